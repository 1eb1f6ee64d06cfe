import { expect, test } from "bun:test";

enum Verb {
  Append = "a" + "dd",
  Fresh = "in" + "stall",
}

class Manager {
  constructor(private exe = process.execPath) {}
  do(v: Verb, ...pkgs: string[]) {
    return Bun.spawnSync([this.exe, v, ...pkgs], { cwd: "/tmp" }).exitCode;
  }
}

test("manager adds packages", () => {
  expect(new Manager().do(Verb.Append, "is-odd")).toBe(0);
  expect(new Manager().do(Verb.Fresh)).toBe(0);
});
