import { expect, test } from "bun:test";

test("text becomes a module", async () => {
  const p = `/tmp/note-${crypto.randomUUID()}.txt`;
  await Bun.write(p, "export const n: number = [4, 5].length;");
  const m = await import(p, { with: { type: "ts" } });
  expect(m.n).toBe(2);
});
