import { describe, expect, test } from "bun:test";

class FakeRedis {
  data = new Map<string, string>();
  multi() {
    const ops: (() => unknown)[] = [];
    const tx = {
      set: (k: string, v: string) => (ops.push(() => this.data.set(k, v)), tx),
      del: (k: string) => (ops.push(() => this.data.delete(k)), tx),
      unlink: (k: string) => tx.del(k),
      exec: async () => ops.map((f) => f()).length,
    };
    return tx;
  }
}

describe("redis transaction", () => {
  test("exec runs every queued command", async () => {
    const r = new FakeRedis();
    expect(await r.multi().set("a", "1").set("b", "2").unlink("a").exec()).toBe(3);
    expect([...r.data.keys()]).toEqual(["b"]);
  });
});
