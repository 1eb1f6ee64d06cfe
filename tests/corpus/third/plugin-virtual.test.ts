import { plugin } from "bun";
import { expect, test } from "bun:test";

plugin({
  name: "virtual",
  setup(b) {
    b.module("virtual:answer", () => ({ contents: "export default 6 * 7", loader: "js" }));
  },
});

test("virtual module", async () => {
  // @ts-ignore
  const m = await import("virtual:answer");
  expect(m.default).toBe(42);
});
