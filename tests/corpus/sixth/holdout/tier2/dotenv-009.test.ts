import { beforeAll, expect, test } from "bun:test";
import * as dotenv from "dotenv";
import { resolve } from "node:path";

beforeAll(() => {
  dotenv.config({ path: resolve(__dirname, "../.env.test") });
});

test("api host is configured", () => {
  expect(process.env.API_HOST ?? "localhost").toBeTruthy();
});
