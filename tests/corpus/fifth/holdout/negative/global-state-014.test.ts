import { afterEach, expect, test } from "bun:test";
import { hydrate } from "../src/hydrate";

const KEY = "__APP_STATE__";

afterEach(() => {
  delete (globalThis as any)[KEY];
});

test("hydrates from the global", () => {
  (globalThis as any)[KEY] = { user: "ann" };
  expect(hydrate(KEY)).toEqual({ user: "ann" });
  expect((globalThis as any)[Symbol.for("app.version")]).toBeUndefined();
});
