import { afterEach, beforeEach, expect, test } from "bun:test";

const featureOn = () => process.env.FEATURE_X === "1";
let saved: string | undefined;

beforeEach(() => {
  saved = process.env.FEATURE_X;
});
afterEach(() => {
  if (saved === undefined) delete process.env.FEATURE_X;
  else process.env.FEATURE_X = saved;
});

test("feature switch", () => {
  process.env.FEATURE_X = "1";
  expect(featureOn()).toBe(true);
});
