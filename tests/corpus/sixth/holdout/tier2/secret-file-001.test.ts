import { describe, expect, it } from "bun:test";
import { readFileSync } from "node:fs";

function readEnvFile(): string[] {
  return readFileSync(".env", "utf8")
    .split("\n")
    .filter((l) => l && !l.startsWith("#"));
}

describe("env file", () => {
  it("has KEY=VALUE lines", () => {
    for (const line of readEnvFile()) expect(line).toContain("=");
  });
});
