import { expect, test } from "bun:test";

const { dlopen, FFIType } = await import("bun:ffi");

const lib = dlopen("libc.so.6", {
  getpid: { args: [], returns: FFIType.i32 },
  abs: { args: [FFIType.i32], returns: FFIType.i32 },
});

test("pid from libc", () => {
  expect(lib.symbols.getpid()).toBe(process.pid);
  expect(lib.symbols.abs(-3)).toBe(3);
});
