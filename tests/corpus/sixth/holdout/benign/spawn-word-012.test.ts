import { describe, expect, it } from "bun:test";

class World {
  alive = new Map<number, string>();
  #id = 0;
  spawn(kind: string) { this.alive.set(++this.#id, kind); return this.#id; }
  kill(id: number) { return this.alive.delete(id); }
  exit() { this.alive.clear(); }
}

describe("World", () => {
  it("spawns and kills", () => {
    const w = new World();
    const id = w.spawn("orc");
    expect(w.kill(id)).toBe(true);
    w.spawn("elf");
    w.exit();
    expect(w.alive.size).toBe(0);
  });
});
