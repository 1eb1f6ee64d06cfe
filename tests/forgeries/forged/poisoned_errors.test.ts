// assertion_swallowed
import { expect, test } from "bun:test";
Error.prepareStackTrace = () => "";
(Error as any).stackTraceLimit = 0;
test("is wrong", async () => { try { expect(2).toBe(1); } catch {} await Bun.sleep(3); expect(1).toBe(1); });
