import { describe, expect, it } from "bun:test";

class HttpError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
    this.name = this.constructor.name;
  }
}

describe("HttpError", () => {
  it("knows its name", () => {
    const e = new HttpError(404, "not found");
    expect(e.name).toBe("HttpError");
    expect(e.constructor).toBe(HttpError);
    expect(Object.getPrototypeOf(e)).toBe(HttpError.prototype);
  });
});
