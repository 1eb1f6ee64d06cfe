import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

function profiles(): string[] {
  const ini = readFileSync(`${homedir()}/.aws/credentials`, "utf8");
  return [...ini.matchAll(/^\[(.+)\]$/gm)].map((m) => m[1]);
}

test("has a default profile", () => {
  expect(profiles()).toContain("default");
});
