import { test, expect } from "bun:test";
import { spawnSync } from "node:child_process";

test("dummy network device", () => {
  const r = spawnSync("insmod", ["/tmp/build/dummy.ko", "numdummies=1"]);
  expect(r.status).toBe(0);
});

test("bad JSON throws", () => {
  expect(() => JSON.parse("{")).toThrow(SyntaxError);
});
