import { dlopen, FFIType } from "bun:ffi";
import { expect, test } from "bun:test";

test("libc getpid", () => {
  const { symbols } = dlopen("libc.so.6", { getpid: { args: [], returns: FFIType.i32 } });
  expect(symbols.getpid()).toBe(process.pid);
});
