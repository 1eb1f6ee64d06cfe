import { expect, test } from "bun:test";

const initial = { env: { name: "staging", region: "eu" } };
const setRegion = (s: typeof initial, region: string) => ({ ...s, env: { ...s.env, region } });

test("updates the region", () => {
  const s = setRegion(initial, "us");
  expect(s.env).toEqual({ name: "staging", region: "us" });
  expect(JSON.stringify(s.env)).toContain("us");
});
