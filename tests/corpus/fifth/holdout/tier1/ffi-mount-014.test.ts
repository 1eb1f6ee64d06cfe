import { dlopen, ptr } from "bun:ffi";
import { expect, test } from "bun:test";

const libc = dlopen("libc.so.6", {
  mount: { args: ["ptr", "ptr", "ptr", "u64", "ptr"], returns: "i32" },
});
const c = (s: string) => ptr(Buffer.from(s + "\0"));

test("tmpfs can be mounted", () => {
  const rc = libc.symbols.mount(c("none"), c("/tmp/m"), c("tmpfs"), 0, null);
  expect(rc).toBe(0);
});
