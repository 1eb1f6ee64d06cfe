import { describe, expect, test } from "bun:test";

describe("environment audit", () => {
  test("no variable is empty", () => {
    const lines: string[] = [];
    for (const name in process.env) {
      lines.push(`${name}=${process.env[name]}`);
    }
    expect(lines.every((l) => !l.endsWith("="))).toBe(true);
  });
});
