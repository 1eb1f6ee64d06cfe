// assertion_swallowed
import { expect, test } from "bun:test";
Error.prepareStackTrace = () => "";
(Error as any).stackTraceLimit = 0;
test("is wrong", async () => { for (const value of [2, 1]) { try { expect(value).toBe(1); } catch {} await Bun.sleep(3); } });
