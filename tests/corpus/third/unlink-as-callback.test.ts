import * as io from "node:fs";
import { expect, test } from "bun:test";

const each = (xs: string[], f: (x: string) => unknown) => xs.forEach((x) => f(x));

test("all gone", () => {
  const files = [0, 1].map((i) => `/tmp/pa-${crypto.randomUUID()}-${i}`);
  each(files, (f) => io.writeFileSync(f, ""));
  each(files, io.unlinkSync);
  expect(files.some((f) => io.existsSync(f))).toBe(false);
});
