import { expect, test } from "bun:test";

const runtimeConfig = () =>
  Object.fromEntries(
    Object.entries(Bun.env)
      .filter(([, v]) => v !== undefined)
      .map(([k, v]) => [k.toLowerCase(), v]),
  );

test("keys are lower case", () => {
  const cfg = runtimeConfig();
  for (const k of Object.keys(cfg)) {
    expect(k).toBe(k.toLowerCase());
  }
  expect(cfg).toHaveProperty("path");
});
