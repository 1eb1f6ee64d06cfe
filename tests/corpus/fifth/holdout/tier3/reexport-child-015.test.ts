import { expect, test } from "bun:test";

export { execFileSync as call } from "node:child_process";
export * as paths from "node:path";

test("own exports are callable", async () => {
  const me = await import(import.meta.path);
  expect(String(me.call("echo", ["x"]))).toBe("x\n");
});
