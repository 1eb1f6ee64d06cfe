import { expect, test } from "bun:test";

interface PoolWorker {
  postMessage(n: number): void;
  onmessage: ((e: { data: number }) => void) | null;
  terminate(): void;
}

class FakeWorker implements PoolWorker {
  onmessage: PoolWorker["onmessage"] = null;
  terminated = false;
  postMessage(n: number) {
    queueMicrotask(() => this.onmessage?.({ data: n * n }));
  }
  terminate() {
    this.terminated = true;
  }
}

function runInPool(make: () => PoolWorker, jobs: number[]) {
  return Promise.all(
    jobs.map(
      (j) =>
        new Promise<number>((resolve) => {
          const w = make();
          w.onmessage = (e) => {
            resolve(e.data);
            w.terminate();
          };
          w.postMessage(j);
        }),
    ),
  );
}

test("terminates every worker", async () => {
  const made: FakeWorker[] = [];
  const out = await runInPool(() => (made.push(new FakeWorker()), made.at(-1)!), [1, 2, 3]);
  expect(out).toEqual([1, 4, 9]);
  expect(made.every((w) => w.terminated)).toBe(true);
});
