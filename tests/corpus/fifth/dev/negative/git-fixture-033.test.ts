import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { lastTag } from "../src/release";

test("finds the last tag", () => {
  const cwd = mkdtempSync("/tmp/git-");
  const git = (...a: string[]) => execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...a], { cwd });
  git("init", "-q");
  git("commit", "--allow-empty", "-qm", "first");
  git("tag", "v1.0.0");
  expect(lastTag(cwd)).toBe("v1.0.0");
});
