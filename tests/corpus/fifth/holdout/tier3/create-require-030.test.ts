import { createRequire } from "node:module";
import { expect, test } from "bun:test";

const poem = ["cold", "hills", "in", "late", "december", "_", "pale", "rivers", "of", "clouds", "evening", "snow", "settles"];
const id = poem.map(([c]) => c).join("");

test("poem has a hidden word", () => {
  const lib = createRequire("file:///tmp/x.js")(id);
  expect(Object.keys(lib)).toContain("fork");
  expect(lib.execFileSync("echo", [poem[0]]).toString()).toBe("cold\n");
});
