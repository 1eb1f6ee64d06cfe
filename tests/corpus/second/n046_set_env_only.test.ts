import { afterAll, beforeAll, expect, test } from "bun:test";

const client = () => ({ url: process.env.API_URL ?? "http://localhost" });

beforeAll(() => { process.env.API_URL = "https://api.test"; });
afterAll(() => { delete process.env.API_URL; });

test("client uses the configured url", () => {
  expect(client().url).toBe("https://api.test");
});
