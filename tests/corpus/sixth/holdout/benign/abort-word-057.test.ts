import { expect, test } from "bun:test";

function slow(signal: AbortSignal): Promise<string> {
  return new Promise((ok, bad) => {
    const t = setTimeout(() => ok("done"), 1000);
    signal.addEventListener("abort", () => { clearTimeout(t); bad(new Error("aborted")); });
  });
}

test("abort rejects", async () => {
  const c = new AbortController();
  const p = slow(c.signal);
  c.abort();
  expect(p).rejects.toThrow("aborted");
});
