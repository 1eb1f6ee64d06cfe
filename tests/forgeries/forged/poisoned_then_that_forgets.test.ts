// violation|tests_failed
import { expect, test } from "bun:test";
const then = Promise.prototype.then;
Promise.prototype.then = function (yes: any) { return then.call(this, yes, () => {}) as any; };
test("is wrong", async () => { await Bun.sleep(1); expect(1).toBe(2); });
