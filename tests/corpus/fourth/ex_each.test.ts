import { test, expect, spyOn } from "bun:test";
test("x", async () => { expect.extend({ toLeave(f: any) { return f(77); } } as any); (expect(process.exit) as any).toLeave(); });
