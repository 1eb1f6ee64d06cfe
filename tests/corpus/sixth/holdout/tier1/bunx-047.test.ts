import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("format script", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "fmt-"));
  writeFileSync(
    join(cwd, "package.json"),
    JSON.stringify({ name: "t", scripts: { format: "bunx prettier@3 --check ." } }),
  );
  const p = Bun.spawn(["bun", "run", "format"], { cwd, stdout: "pipe", stderr: "pipe" });
  expect(typeof (await p.exited)).toBe("number");
});
