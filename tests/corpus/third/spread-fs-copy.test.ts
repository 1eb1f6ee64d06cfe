import fs from "node:fs";
import { expect, test } from "bun:test";

const vfs = { ...fs, label: "memory" } as any;
const op = (name: string) => (...a: unknown[]) => vfs[name + "Sync"](...a);

test("vfs", () => {
  const d = op("mkdtemp")("/tmp/vfs-");
  op("rm")(d, { recursive: true, force: true });
  expect(op("exists")(d)).toBe(false);
});
