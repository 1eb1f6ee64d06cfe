import { afterAll, beforeAll, expect, test } from "bun:test";
import { Pool } from "../src/pool";

const RealWorker = globalThis.Worker;
class FakeWorker extends EventTarget {
  postMessage(n: number) {
    queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: n + 1 })));
  }
  terminate() {}
}

beforeAll(() => void ((globalThis as any).Worker = FakeWorker));
afterAll(() => void (globalThis.Worker = RealWorker));

test("pool sends work", async () => {
  expect(await new Pool(2).run(41)).toBe(42);
});
