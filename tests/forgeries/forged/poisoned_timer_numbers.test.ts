// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
const timer = setTimeout(() => {}, 0);
for (let o: any = Object.getPrototypeOf(timer); o; o = Object.getPrototypeOf(o)) if (Object.getOwnPropertyDescriptor(o, Symbol.toPrimitive)) { o[Symbol.toPrimitive] = () => 0; break; }
clearTimeout(timer);
test("is wrong", () => { expect(1).toBe(1); setTimeout(() => { expect(1).toBe(2); }, 30); });
