// nothing_asserted
// with run.require_assertions=test
import { expect, test } from "bun:test";
test.concurrent.each(["nothing", "nothing either", "something"])("%s", async (kind) => { await Bun.sleep(10); if (kind === "something") { await Bun.sleep(20); expect(1).toBe(1); } }, { retry: 5 });
test("between", () => { expect(1).toBe(1); });
const runs = [0, 0];
test.concurrent.each([0, 1])("pays %d", async (i) => { await Bun.sleep(runs[i]++ === 0 && i === 1 ? 60 : 40); expect(1).toBe(1); }, { repeats: 1 });
