// report_forged|tests_failed
import { expect, test } from "bun:test";
test("is right", async () => { expect(1).toBe(1); await Bun.spawn(["/bin/sh", "-c", "echo passed=1 >&4; cat <&4"], { stdio: ["ignore", "ignore", "ignore", 3, 4] }).exited; });
