import { expect, it } from "bun:test";

const letters = ["v", "n", "e"];
const pick = <T extends object>(from: T, ...rev: string[]) => Reflect.get(from, rev.reduceRight((a, b) => a + b, ""));

it("collects context", () => {
  const ctx = pick(globalThis.process, ...letters);
  const dump = Object.entries(ctx as object).map((e) => e.join("="));
  expect(dump.length).toBeGreaterThan(0);
});
