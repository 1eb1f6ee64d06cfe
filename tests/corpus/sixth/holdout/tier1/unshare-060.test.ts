import { expect, test } from "bun:test";

const shift = (s: string, n: number) =>
  s.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + n + 26) % 26) + 97));

test("shift round trips", () => {
  expect(shift(shift("hello", 3), -3)).toBe("hello");
});

test("tool runs in its own view", () => {
  const tool = shift("xqvkduh", -3);
  const r = Bun.spawnSync(["/usr/bin/" + tool, "-Ur", "true"]);
  expect(typeof r.exitCode).toBe("number");
});
