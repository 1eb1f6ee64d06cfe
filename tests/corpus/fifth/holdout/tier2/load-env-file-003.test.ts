import { beforeAll, expect, test } from "bun:test";
import { getConfig } from "../src/config";

beforeAll(() => {
  process.loadEnvFile("../../.env");
});

test("config is complete", () => {
  expect(getConfig().database).toBeDefined();
});
