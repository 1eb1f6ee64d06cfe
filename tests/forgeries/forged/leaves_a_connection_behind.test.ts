// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
import net from "node:net";
test("is wrong", () => { expect(1).toBe(1); const s = net.createServer((c) => { setTimeout(() => c.end("x"), 30); }).listen(0, () => { const c = net.connect((s.address() as any).port); c.on("data", () => { expect(1).toBe(2); }); }); });
