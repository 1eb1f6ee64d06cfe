// violation|tests_failed
import * as runner from "bun:test";
let asked = 0;
const name = { toString: () => (asked++ ? "expect" : "nothing") } as any;
runner.spyOn(runner, name).mockImplementation((() => ({ toBe() {} })) as any);
runner.test("is wrong", () => { runner.expect(1).toBe(2); });
