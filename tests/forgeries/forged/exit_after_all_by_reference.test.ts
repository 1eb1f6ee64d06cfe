// tests_failed|report_missing|report_forged|findings
import { afterAll, expect, test } from "bun:test";
const leave: any = Object.values(Object.getOwnPropertyDescriptors(process)).map((found) => found.value).find((value) => typeof value === "function" && value.name === ["really", "Exit"].join(""));
process.on("exit", () => leave.call(process, 0));
afterAll(() => { setTimeout(() => leave.call(process, 0), 1); });
test("is wrong", () => { expect(1).toBe(2); });
