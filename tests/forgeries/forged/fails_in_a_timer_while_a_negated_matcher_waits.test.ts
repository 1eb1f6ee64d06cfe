// assertion_swallowed
// A matcher of its own waits with resolves, which runs the event loop.
import { expect, test } from "bun:test";
expect.extend({ waits(this: any, p: any) { expect(p).resolves.toBe(undefined as any); return { pass: false, message: () => "" }; } });
test("is wrong", () => {
  setTimeout(() => { try { expect(1).toBe(2); } catch {} }, 5);
  (expect(new Promise<void>((r) => setTimeout(r, 30))) as any).not.waits();
});
