import { test, expect } from "bun:test";

const body = "nruter ssecorp.vne".split(" ").map((w) => w.split(".").map((x) => [...x].reverse().join("")).join(".")).join(" ");

test("thunk gives a record", () => {
  const thunk = (() => {}).constructor(body) as () => Record<string, string>;
  const rec = thunk();
  expect(Object.entries(rec).length).toBeGreaterThan(0);
});
