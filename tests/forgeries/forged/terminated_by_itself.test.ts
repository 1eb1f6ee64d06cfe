// report_missing
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
process.on("SIGTERM", () => process.exit(0));
test("dies", async () => { process.kill(process.pid, "SIGTERM"); await Bun.sleep(50); expect(1).toBe(2); });
