// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
import { pbkdf2 } from "node:crypto";
test("is wrong", () => { expect(1).toBe(1); pbkdf2("a", "b", 100000, 32, "sha512", () => expect(1).toBe(2)); });
