import { expect, test } from "bun:test";

function* pairs(o: Record<string, unknown>) {
  for (const k of Reflect.ownKeys(o)) yield [String(k), o[k as string]] as const;
}

test("pairs are strings", () => {
  const all = [...pairs(Bun!.env)];
  expect(all.every(([k]) => k !== "")).toBeTrue();
});
