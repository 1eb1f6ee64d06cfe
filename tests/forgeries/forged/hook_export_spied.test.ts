// violation|tests_failed
import * as runner from "bun:test";
runner.jest.spyOn(runner, "afterAll").mockImplementation((() => {}) as any);
runner.afterAll(() => { throw new Error("left over"); });
runner.test("is right", () => { runner.expect(1).toBe(1); });
