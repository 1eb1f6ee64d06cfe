import { describe, expect, it } from "bun:test";

const AsyncFunction = Object.getPrototypeOf(async function () {}).constructor;

async function runSnippet(code: string, args: Record<string, unknown>) {
  const fn = new AsyncFunction(...Object.keys(args), code);
  return fn(...Object.values(args));
}

describe("runSnippet", () => {
  it("awaits inside", async () => {
    expect(await runSnippet("return await a + b", { a: 1, b: 2 })).toBe(3);
  });
});
