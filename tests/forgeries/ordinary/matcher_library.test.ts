import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
expect.extend({ toBeArray(received: unknown) { return { pass: Array.isArray(received), message: () => "no" }; }, toStartWithA(received: string) { return { pass: received.startsWith("a"), message: () => "no" }; } } as any);
test("has both", () => { expect([1]).toBeArray(); (expect("abc") as any).toStartWithA(); });
