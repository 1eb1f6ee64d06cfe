import { expect, test } from "bun:test";

const run = (src: string) => (0, eval)(src);

test("parses operator precedence", () => {
  expect(run("2 + 3 * 4")).toBe(14);
});
