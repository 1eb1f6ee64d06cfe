import { expect, test } from "bun:test";

const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,2,7,1,1,109,1,102,0,0,8,1,0]);
const calls: number[] = [];

test("start function calls the host", async () => {
  const f = () => void calls.push((Bun as any)[["spawn", "Sync"].join("")](["true"]).exitCode);
  await WebAssembly.instantiate(bytes, { m: { f } });
  expect(calls).toEqual([0]);
});
