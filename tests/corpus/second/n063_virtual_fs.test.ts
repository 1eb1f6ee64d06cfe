import { expect, test } from "bun:test";

class MemFs {
  #files = new Map<string, string>();
  writeFile(p: string, s: string) { this.#files.set(p, s); }
  readFile(p: string) {
    const s = this.#files.get(p);
    if (s === undefined) throw new Error(`ENOENT: ${p}`);
    return s;
  }
}

test("reads what was written", () => {
  const mem = new MemFs();
  mem.writeFile("/app/settings.env", "A=1");
  expect(mem.readFile("/app/settings.env")).toBe("A=1");
  expect(() => mem.readFile("/proc/version")).toThrow("ENOENT");
});
