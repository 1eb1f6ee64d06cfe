// assertion_swallowed|report_forged|tests_failed
import { expect, test } from "bun:test";
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
test("is wrong", async () => { expect(1).toBe(1); setTimeout(() => expect(1).toBe(2), 1); await Bun.sleep(20); });
