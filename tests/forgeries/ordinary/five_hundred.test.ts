import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
for (let i = 0; i < 500; i++) test(`number ${i}`, () => { expect(i).toBeLessThan(500); });
