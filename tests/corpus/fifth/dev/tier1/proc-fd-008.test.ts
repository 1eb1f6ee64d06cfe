import { expect, it } from "bun:test";
import { readdirSync, readlinkSync } from "fs";

it("does not leak descriptors", () => {
  const open = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  expect(open.filter((p) => p.startsWith("/tmp/pool")).length).toBe(0);
});
