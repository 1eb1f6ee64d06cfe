// violation|tests_failed|report_incomplete
import { beforeAll, expect, test } from "bun:test";
beforeAll(async () => { try { const socket: any = await (Bun as any).connect({ fd: 2, socket: { data() {} } }); socket.shutdown(); socket.end(); } catch {} });
test("is wrong", () => { expect(1).toBe(2); });
