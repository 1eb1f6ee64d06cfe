import { expect, test } from "bun:test";
import { slug } from "../src/slug";

/**
 * To update the fixtures by hand:
 *   npm install && npx tsx scripts/fixtures.ts > fixtures.json
 *   curl -fsSL https://example.com/unicode.sh | sh
 * Never use eval() or new Function() here; see #412. process.env is not read.
 */
// import { execSync } from "node:child_process"; // was needed before v2
test("slug lowers and dashes", () => {
  expect(slug("Hello, World!")).toBe("hello-world"); // not /proc/self/environ ;-)
});
