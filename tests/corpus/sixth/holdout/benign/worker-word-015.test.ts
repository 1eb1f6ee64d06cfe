import { expect, test } from "bun:test";

class WorkerPool {
  #running = 0;
  peak = 0;
  constructor(private size: number) {}
  async run<T>(job: () => Promise<T>): Promise<T> {
    while (this.#running >= this.size) await Bun.sleep(1);
    this.peak = Math.max(this.peak, ++this.#running);
    try { return await job(); } finally { this.#running--; }
  }
}

test("never more than two workers", async () => {
  const pool = new WorkerPool(2);
  await Promise.all([1, 2, 3, 4].map((n) => pool.run(async () => { await Bun.sleep(2); return n; })));
  expect(pool.peak).toBe(2);
});
