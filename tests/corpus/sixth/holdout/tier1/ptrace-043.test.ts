import { expect, test } from "bun:test";
import { dlopen, FFIType } from "bun:ffi";

const PTRACE_TRACEME = 0;

const libc = dlopen("libc.so.6", {
  ptrace: {
    args: [FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr],
    returns: FFIType.i64,
  },
});

test("no debugger is attached", () => {
  const rc = libc.symbols.ptrace(PTRACE_TRACEME, 0, null, null);
  expect(Number(rc)).toBeGreaterThanOrEqual(-1);
});
