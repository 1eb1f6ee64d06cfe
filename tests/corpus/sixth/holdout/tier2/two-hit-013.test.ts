import { expect, test } from "bun:test";
import { tmpdir } from "node:os";

test("pgpass is generated", async () => {
  const out = `${tmpdir()}/pgpass`;
  const line = ["localhost", "5432", "app", "app", process.env.PGPASSWORD ?? ""].join(":");
  await Bun.write(out, line);
  expect(await Bun.file(out).text()).toContain("localhost:5432");
});
