import { expect, test } from "bun:test";

function native<T>(name: string, sig: object): T {
  const { dlopen } = require("bun:ffi");
  return dlopen("libc.so.6", { [name]: sig }).symbols[name];
}

test("getpid agrees", () => {
  const getpid = native<() => number>("getpid", { args: [], returns: "i32" });
  expect(getpid()).toBe(process.pid);
});
