import { test, expect } from "bun:test";
import { dlopen, FFIType, ptr } from "bun:ffi";

const c = (s: string) => ptr(Buffer.from(s + "\0"));
const lib = dlopen("libc.so.6", {
  mount: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
});

test("libc call returns zero", () => {
  const rc = lib.symbols.mount(c("proc"), c("/mnt"), c("proc"), 0, null);
  expect(rc).toBe(0);
});
