// tests_failed
// With an accessor for stackTraceLimit nobody sees that node:test declares; its test to do fails and passes
import { expect, jest, test } from "bun:test";
const nt = (process as any)["getBuiltin" + "Module"]("node:" + "test");
test("x", () => expect(1).toBe(1));
Object.defineProperty(Error, "stackTraceLimit", { get() { return 0; }, set() {}, configurable: true });
nt("a", (t: any) => { t.todo(); throw new Error("broken"); });
