// violation|tests_failed|report_forged
import { expect, test } from "bun:test";
Object.defineProperty(Promise, Symbol.species, { get: () => class { constructor(run: any) { run(() => {}, () => {}); } } });
test("is wrong", async () => { await Bun.sleep(1); expect(1).toBe(2); });
