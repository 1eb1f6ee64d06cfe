import { expect, test } from "bun:test";
import { retry } from "../src/retry";

test("stops when aborted", async () => {
  const ac = new AbortController();
  const p = retry(async () => { throw new Error("x"); }, { signal: ac.signal, delay: 1 });
  ac.abort(new Error("stop"));
  await expect(p).rejects.toThrow("stop");
});
