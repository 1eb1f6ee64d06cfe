import { expect, test } from "bun:test";

const isBot = (ua: string) => /^(curl|wget|python-requests)\//i.test(ua);

test.each([
  ["curl/8.5.0", true],
  ["Wget/1.21", true],
  ["Mozilla/5.0", false],
])("%s", (ua, want) => {
  expect(isBot(ua)).toBe(want);
});
