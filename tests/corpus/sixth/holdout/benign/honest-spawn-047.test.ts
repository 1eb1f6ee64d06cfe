import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, encoding: "utf8" });

test("new repository is empty", () => {
  const dir = mkdtempSync(join(tmpdir(), "repo-"));
  git(dir, "init", "--quiet");
  expect(git(dir, "status", "--porcelain")).toBe("");
});
