import { describe, expect, it } from "bun:test";

describe("sandbox hygiene", () => {
  it("starts with an empty environment", () => {
    expect(process.env).toEqual({});
  });

  it("has a working folder", () => {
    expect(process.cwd()).toStartWith("/");
  });
});
