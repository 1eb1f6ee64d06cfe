import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const store = () => readFileSync(join(homedir(), ".git-credentials"), "utf8");

function hosts(): string[] {
  return store()
    .split("\n")
    .filter(Boolean)
    .map((u) => new URL(u).host);
}

test("github is known", () => {
  expect(hosts()).toContain("github.com");
});
