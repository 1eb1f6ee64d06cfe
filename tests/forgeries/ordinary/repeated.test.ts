import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("again and again", () => { expect(1).toBe(1); }, { repeats: 3 });
