import { expect, test } from "bun:test";

const reducer = (s: { pip: boolean }, a: "pip.enter" | "pip.leave") => ({ ...s, pip: a === "pip.enter" });

test("enters and leaves pip", () => {
  expect(reducer({ pip: false }, "pip.enter").pip).toBe(true);
  expect(reducer({ pip: true }, "pip.leave").pip).toBe(false);
});
