import { expect, test } from "bun:test";

test("mode is known", () => {
  const mode = process.env.NODE_ENV ?? "test";
  if (process.env.CI) console.log("running on CI in", mode);
  expect(["test", "development", "production"]).toContain(mode);
});
