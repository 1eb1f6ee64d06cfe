// crashed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test("dies", () => { process.kill(process.pid, "SIGKILL"); });
