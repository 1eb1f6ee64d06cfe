import { expect, test } from "bun:test";

test("keys are visited", () => {
  JSON.parse('{"globalThis.visited = 1": true}', globalThis.eval as any);
  expect((globalThis as any).visited).toBe(1);
});
