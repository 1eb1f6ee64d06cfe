// expected_failures|tests_failed
import { test, expect, afterAll } from "bun:test";
const nm = "fail" + "ing";
const d = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(test), nm);
console.error(d, Object.getOwnPropertyNames(Object.getPrototypeOf(test)), Object.getOwnPropertyNames(test));
const it2: any = d!.get ? d!.get.call(test) : d!.value;
it2("x", () => { throw new Error("no"); });
test("y", () => {});
