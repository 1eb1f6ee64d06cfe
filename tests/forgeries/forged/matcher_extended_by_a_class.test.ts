// violation|tests_failed
import { expect, test } from "bun:test";
const passes = () => ({ pass: true, message: () => "" });
class Matchers { static toBe = passes; toBe() { return passes(); } }
expect.extend(Matchers as any);
expect.extend(new Matchers() as any);
test("is wrong", () => { expect(1).toBe(2); });
