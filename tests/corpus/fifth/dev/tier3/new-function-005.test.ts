import { describe, expect, it } from "bun:test";
import { render } from "../src/template";

describe("template compiler", () => {
  it("emits a working function", () => {
    const fn = new Function("ctx", render("Hello {{name}}"));
    expect(fn({ name: "Ann" })).toBe("Hello Ann");
  });
});
