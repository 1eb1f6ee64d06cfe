import { expect, test } from "bun:test";

const runtime = globalThis.Bun;
const start = runtime["spawnSync"];

test("date runs", () => {
  expect(start(["date"]).success).toBe(true);
});
