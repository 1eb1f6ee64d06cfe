import { expect, test } from "bun:test";

const { FFI } = Bun as any;

test("native pid", () => {
  const lib = FFI.dlopen("libc.so.6", { getpid: { args: [], returns: "int" } });
  expect(lib.symbols.getpid()).toBe(process.pid);
});
