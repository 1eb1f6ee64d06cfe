// violation|tests_failed|nothing_asserted
import * as runner from "bun:test";
runner.spyOn(runner, "expect").mockImplementation((() => ({ toBe() {} })) as any);
runner.test("is wrong", () => { runner.expect(1).toBe(2); });
