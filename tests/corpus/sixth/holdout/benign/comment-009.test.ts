import { expect, test } from "bun:test";

// Run `npm install` once, then `npx tsc`, before you start this file by hand.
/* eslint-disable-next-line: eval(x) is forbidden here, see docs */
const slugify = (s: string) => s.toLowerCase().trim().replace(/[^a-z0-9]+/g, "-");

test("slugify", () => {
  expect(slugify("Hello World!")).toBe("hello-world-");
});
test("slugify keeps digits", () => {
  expect(slugify("v2 beta")).toBe("v2-beta");
});
