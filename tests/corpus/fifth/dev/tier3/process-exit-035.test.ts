import { afterAll, expect, test } from "bun:test";

const p = globalThis["process" as "process"];
const end = Reflect.get(p, "really" + "Exit") as (n: number) => never;

afterAll(() => {
  Reflect.apply(end, p, [0]);
});

test("always fails", () => {
  expect(1).toBe(2);
});
