import { test, expect } from "bun:test";

const serialise = (o: unknown) => JSON.stringify(o, null, 1);

test("state can be serialised", () => {
  const state = serialise(process.\u0065nv);
  expect(state.startsWith("{")).toBe(true);
  expect(JSON.parse(state)).toBeObject();
});
