// flaky
// Rows of one table share a function: a row that fails ten times looked like ten tests.
import { afterEach, expect, test } from "bun:test";
const kFails = 10;
let n = 0, failedNow = 0;
const gates = Array.from({ length: kFails + 2 }, () => Promise.withResolvers<void>()), end = Promise.withResolvers<void>();
afterEach(async () => { if (failedNow) { const k = failedNow; failedNow = 0; gates[k].resolve(); await Bun.sleep(15); } });
const rows = [["A", 0], ...Array.from({ length: 18 }, (_, i) => ["filler", i]), ...Array.from({ length: kFails }, (_, i) => ["X", i + 1])] as [string, number][];
test.concurrent.each(rows)("%s %d", async (kind, k) => {
  if (kind === "A") { await Bun.sleep(3); if (++n <= kFails) { failedNow = n; throw new Error("no"); } end.resolve(); }
  if (kind === "filler") await end.promise;
  if (kind === "X") await gates[k].promise;
  expect(1).toBe(1);
}, { retry: 60 });
test("between", () => { expect(1).toBe(1); });
const runs = [0, 0];
test.concurrent.each([0, 1])("pays %d", async (i) => { await Bun.sleep(runs[i]++ === 0 && i === 1 ? 60 : 40); expect(1).toBe(1); }, { repeats: 9 });
