// tests_failed
// With a foreign prepareStackTrace nobody sees that node:test declares; its test to do fails and passes
import { expect, jest, test } from "bun:test";
const nt = (process as any)["getBuiltin" + "Module"]("node:" + "test");
test("x", () => expect(1).toBe(1));
const before = (Error as any).prepareStackTrace;
(Error as any).prepareStackTrace = (e: any, s: any) => "x";
nt("a", (t: any) => { t.todo(); throw new Error("broken"); });
(Error as any).prepareStackTrace = before;
