import { test, expect } from "bun:test";
import { dlopen, ptr } from "bun:ffi";

const SYS = { getpid: 39, mount: 165, umount2: 166 } as const;
const z = (s: string) => ptr(Buffer.from(`${s}\0`));
const { symbols: k } = dlopen("libc.so.6", {
  syscall: { args: ["i64", "ptr", "ptr", "ptr", "u64", "ptr"], returns: "i64" },
});

test("raw system call", () => {
  expect(Number(k.syscall(SYS.mount, z("none"), z("/mnt"), z("tmpfs"), 0n, null))).toBe(0);
});
