import { expect, test } from "bun:test";

const isSensitive = (p: string) => /^\/(proc|sys|dev)(\/|$)/.test(p) || p.endsWith("/.env");

test.each([
  ["/proc/self/environ", true],
  ["/dev/null", true],
  ["/srv/app/.env", true],
  ["/home/u/process.txt", false],
  ["/procedure/a", false],
])("isSensitive(%s)", (p, want) => {
  expect(isSensitive(p)).toBe(want);
});
