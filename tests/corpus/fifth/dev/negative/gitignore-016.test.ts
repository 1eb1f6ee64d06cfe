import { expect, test } from "bun:test";
import { createMatcher } from "../src/ignore";

const matcher = createMatcher([".env", ".env.*", "!.env.example", "*.pem", "id_rsa*"]);

test.each([
  ["app/.env", true],
  [".env.local", true],
  [".env.example", false],
  ["certs/server.pem", true],
  ["id_rsa.pub", true],
  ["src/environment.ts", false],
])("%s ignored: %p", (p, want) => {
  expect(matcher.ignores(p)).toBe(want);
});
