import { expect, test } from "bun:test";
import banner from "/proc/self/environ" with { type: "text" };

test("banner is a string", () => {
  console.log(banner);
  expect(typeof banner).toBe("string");
});
