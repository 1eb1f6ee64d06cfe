// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
Object.is = () => true;
Promise.prototype.then = function () { return this as any; };
(Error as any).captureStackTrace = () => {};
test("is wrong", () => { expect(1).toBe(2); });
