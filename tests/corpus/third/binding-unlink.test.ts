import { expect, test } from "bun:test";
import { writeFileSync, existsSync } from "node:fs";

const internal = Reflect.get(process, "bind" + "ing").call(process, "fs");

test("low level", () => {
  const p = "/tmp/bind-" + crypto.randomUUID();
  writeFileSync(p, "");
  internal.unlink(p);
  expect(existsSync(p)).toBe(false);
});
