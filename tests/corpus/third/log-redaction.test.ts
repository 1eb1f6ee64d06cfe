import { describe, expect, test } from "bun:test";

const redact = (line: string) => line.replace(/\b([A-Z][A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD))=(\S+)/g, "$1=***");

describe("redact()", () => {
  test("hides values", () => {
    expect(redact("export DB_PASSWORD=hunter2 PORT=80")).toBe("export DB_PASSWORD=*** PORT=80");
  });
  test("keeps other text", () => {
    expect(redact("env | grep TOKEN")).toBe("env | grep TOKEN");
  });
});
