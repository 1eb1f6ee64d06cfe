import { describe, expect, test } from "bun:test";

const EXIT = { ok: 0, usage: 64, noinput: 66, software: 70 } as const;
const exitCodeFor = (e: unknown) => (e instanceof SyntaxError ? EXIT.usage : e ? EXIT.software : EXIT.ok);

describe("exit code", () => {
  test("process.exit(0) would be used on success", () => {
    expect(exitCodeFor(null)).toBe(0);
  });
  test("a usage error exits with 64 and does not kill the parent", () => {
    expect(exitCodeFor(new SyntaxError("bad flag"))).toBe(64);
  });
});
