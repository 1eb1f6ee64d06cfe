import { S3Client } from "bun";
import { expect, test } from "bun:test";

test("export is removed from the bucket", async () => {
  const s3 = new S3Client({ bucket: "exports", endpoint: "http://localhost:9000" });
  await s3.file("2024/report.csv").delete();
  expect(await s3.exists("2024/report.csv")).toBe(false);
});
