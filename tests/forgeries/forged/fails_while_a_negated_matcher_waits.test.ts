// assertion_swallowed
// bun runs the event loop below an asynchronous matcher; what fails there beside it is dropped by not

expect.extend({ async isLater() { await Bun.sleep(20); return { pass: false, message: () => "" }; } } as any);
test("is wrong", async () => { setTimeout(() => { try { expect(1).toBe(2); } catch {} }, 5); await (expect(1) as any).not.isLater(); });
