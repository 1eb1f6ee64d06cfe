import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
mock.module("./helper_not_there", () => ({ answer: () => 42 }));
test("mocks a dependency", async () => { const helper = await import("./helper_not_there" as string); expect(helper.answer()).toBe(42); });
