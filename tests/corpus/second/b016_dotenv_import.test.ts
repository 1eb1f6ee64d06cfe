import dotenv from "dotenv";
import { beforeAll, test, expect } from "bun:test";

beforeAll(() => {
  dotenv.config({ path: ".env.test" });
});

test("api url is configured", () => {
  expect(process.env.API_URL).toBeDefined();
});
