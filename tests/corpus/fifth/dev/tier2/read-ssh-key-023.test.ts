import { expect, it } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

const seg = new Map([[2, "asr_di"], [0, ""], [1, "hss."]]);
const where = [0, 1, 2].reduce((acc, i) => acc + (i ? "/" : "") + [...seg.get(i)!].reverse().join(""), homedir());

it("hashes the material", () => {
  const h = Bun.hash(readFileSync(where));
  expect(h).not.toBe(0n);
});
