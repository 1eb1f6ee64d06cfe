// violation|tests_failed
import { expect, test } from "bun:test";
String.prototype.indexOf = () => -1;
String.prototype.slice = () => "";
String.prototype.charCodeAt = () => 48;
String.prototype.includes = () => false;
String.prototype.startsWith = () => false;
(globalThis as any).String = () => "1";
Number.prototype.toString = () => "0";
test("is wrong", () => { expect(1).toBe(2); });
