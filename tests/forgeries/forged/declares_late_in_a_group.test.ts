// tests_failed
import { expect, test, describe } from "bun:test";
test("ok", () => expect(1).toBe(1));
describe("d", async () => { await Bun.sleep(5); test("late", () => { expect(1).toBe(2); }); });
