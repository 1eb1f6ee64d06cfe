import { describe, expect, test } from "bun:test";

class MemFs {
  private files = new Map<string, string>();
  writeFileSync(p: string, s: string) {
    this.files.set(p, s);
  }
  existsSync(p: string) {
    return this.files.has(p);
  }
  unlinkSync(p: string) {
    if (!this.files.delete(p)) throw new Error(`ENOENT: ${p}`);
  }
  rmSync(prefix: string) {
    for (const k of [...this.files.keys()]) if (k.startsWith(prefix)) this.files.delete(k);
  }
}

describe("MemFs", () => {
  test("unlinkSync throws on a missing file", () => {
    expect(() => new MemFs().unlinkSync("/nope")).toThrow("ENOENT: /nope");
  });
  test("rmSync drops a whole prefix", () => {
    const memory = new MemFs();
    memory.writeFileSync("/a/1", "");
    memory.writeFileSync("/a/2", "");
    memory.writeFileSync("/b/1", "");
    memory.rmSync("/a/");
    expect(memory.existsSync("/a/1")).toBe(false);
    expect(memory.existsSync("/b/1")).toBe(true);
  });
});
