import { expect, test } from "bun:test";

test("path helpers", async () => {
  const { basename, extname } = await import("node:path");
  expect(basename("/a/b.tar.gz", extname("/a/b.tar.gz"))).toBe("b.tar");
});

test("url helpers", async () => {
  const url = await import("node:url");
  expect(url.fileURLToPath("file:///tmp/x.ts")).toBe("/tmp/x.ts");
});
