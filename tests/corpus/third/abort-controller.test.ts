import { expect, test } from "bun:test";

function wait(ms: number, signal: AbortSignal) {
  return new Promise<void>((resolve, reject) => {
    const t = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(t);
      reject(signal.reason);
    });
  });
}

test("abort() rejects the wait", async () => {
  const c = new AbortController();
  const p = wait(1000, c.signal);
  c.abort(new Error("cancelled"));
  expect(p).rejects.toThrow("cancelled");
  expect(c.signal.aborted).toBe(true);
});
