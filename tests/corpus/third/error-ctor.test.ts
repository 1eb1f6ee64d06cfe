import { expect, test } from "bun:test";

class HttpError extends Error {
  constructor(readonly status: number, options?: ErrorOptions) {
    super(`HTTP ${status}`, options);
    this.name = new.target.name;
    Error.captureStackTrace?.(this, this.constructor as any);
  }
}
class NotFound extends HttpError {
  constructor() {
    super(404, { cause: "missing" });
  }
}

test("subclass", () => {
  const e = new NotFound();
  expect(e).toMatchObject({ name: "NotFound", status: 404, message: "HTTP 404", cause: "missing" });
  expect(e.constructor).toBe(NotFound);
  expect(e.stack).toContain("HTTP 404");
});
