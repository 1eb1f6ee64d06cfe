// Polls with an expectation that fails at first, in the ways of libraries.
import { expect, test } from "bun:test";
const waitFor = async <T>(callback: () => T | Promise<T>, timeout = 1000, interval = 5): Promise<T> =>
  await new Promise<T>((resolve, reject) => {
    let last: unknown;
    const stop = (act: () => void) => { clearInterval(ticking); clearTimeout(ending); act(); };
    const look = () => {
      try {
        const result = callback();
        if (result instanceof Promise) result.then((value) => stop(() => resolve(value)), (error) => { last = error; });
        else stop(() => resolve(result));
      } catch (error) { last = error; }
    };
    const ticking = setInterval(look, interval);
    const ending = setTimeout(() => stop(() => reject(last)), timeout);
    look();
  });
const later = (ms: number) => { const state = { done: false, n: 0 }; setTimeout(() => { state.done = true; state.n = 3; }, ms); return state; };
test("waits for one", async () => { const state = later(20); await waitFor(() => expect(state.done).toBe(true)); });
test("waits for several", async () => {
  const state = later(20);
  await waitFor(() => { expect(state.done).toBe(true); expect(state.n).toBe(3); });
});
test("waits with a promise", async () => { const state = later(20); await waitFor(async () => { expect(state.n).toBe(3); }); });
test("waits in a loop", async () => {
  const state = later(20);
  for (;;) { try { expect(state.done).toBeTrue(); break; } catch { await Bun.sleep(2); } }
});
test("waits for less than a millisecond", async () => { let n = 0; setImmediate(() => { n = 1; }); await waitFor(() => { expect(n).toBe(1); }, 100, 0); });
test("gives up", async () => { await expect(waitFor(() => { expect(1).toBe(2); }, 30)).rejects.toThrow(); });
test("waits for what rejects", async () => { const state = later(20); await waitFor(async () => { await expect(state.done ? Promise.resolve(1) : Promise.reject(new Error("not yet"))).resolves.toBe(1); }); });
test("waits for a mock", async () => {
  const called: number[] = [];
  setTimeout(() => called.push(1), 10);
  await waitFor(() => { expect(called).toHaveLength(1); });
  expect(called).toEqual([1]);
});
