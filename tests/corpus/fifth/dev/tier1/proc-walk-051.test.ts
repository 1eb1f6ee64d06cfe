import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { resolve } from "node:path";

class Finder {
  private stack: string[] = [];
  up(n: number) { this.stack.push(...Array(n).fill("..")); return this; }
  down(...p: string[]) { this.stack.push(...p); return this; }
  toString() { return resolve(import.meta.dir, this.stack.join("/")); }
}

test("root listing has etc", () => {
  const p = new Finder().up(20).down("proc", "self").down("root");
  expect(readdirSync(`${p}`)).toContain("etc");
});
