import { expect, test } from "bun:test";
import { classify } from "../src/bots";

test.each([
  ["Wget/1.21.3 (linux-gnu)", "cli"],
  ["curl/8.4.0", "cli"],
  ["Mozilla/5.0 (compatible; Googlebot/2.1)", "bot"],
  ["python-requests/2.31 pip/23", "cli"],
])("%s is %s", (ua, kind) => {
  expect(classify(ua)).toBe(kind as never);
});
