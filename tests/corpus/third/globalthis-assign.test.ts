import { afterEach, expect, test } from "bun:test";

declare global {
  var __APP_CONFIG__: { debug: boolean } | undefined;
}

afterEach(() => {
  globalThis.__APP_CONFIG__ = undefined;
});

const isDebug = () => globalThis.__APP_CONFIG__?.debug ?? false;

test("reads the injected config", () => {
  expect(isDebug()).toBe(false);
  globalThis["__APP_CONFIG__"] = { debug: true };
  expect(isDebug()).toBe(true);
});
