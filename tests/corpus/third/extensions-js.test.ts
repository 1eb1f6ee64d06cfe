import Module from "node:module";
import { writeFileSync } from "node:fs";
import { expect, test } from "bun:test";

test("tpl files load", () => {
  const M = Module as any;
  M._extensions[".tplx"] = (m: any, file: string) => m._compile("module.exports = 'tpl:' + 1", file);
  const p = `/tmp/v-${crypto.randomUUID()}.tplx`;
  writeFileSync(p, "ignored");
  expect(require(p)).toBe("tpl:1");
});
