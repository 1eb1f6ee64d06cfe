// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); const worker = new Worker("data:text/javascript,postMessage(1)"); worker.onmessage = (event) => { expect(event.data).toBe(2); }; });
