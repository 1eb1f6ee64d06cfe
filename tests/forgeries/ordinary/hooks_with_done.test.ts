// Hooks that call back, return promises, assert, and lie at all levels.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
const seen: string[] = [];
beforeAll((done) => { setTimeout(() => { seen.push("all"); done(); }, 1); });
beforeEach(async () => { await Bun.sleep(1); seen.push("each"); });
afterEach((done) => { queueMicrotask(() => done()); });
afterAll(() => { expect(seen[0]).toBe("all"); });
test("calls back", (done) => { setImmediate(() => { expect(seen).toContain("each"); done(); }); });
test("calls back at once", (done) => { expect(1).toBe(1); done(); });
test("calls back after a promise", async () => { await new Promise<void>((done) => setTimeout(done, 1)); expect(1).toBe(1); });
test("calls back with null", (done) => { expect(1).toBe(1); done(null as never); });
describe("a group", () => {
  let value = 0;
  beforeAll(() => { value = 1; });
  beforeEach(() => { expect(value).toBe(1); });
  afterEach(() => { expect(value).toBe(1); });
  afterAll(async () => { await Promise.resolve(); value = 0; });
  test("asserts in its hooks only", () => {});
  describe("deeper", () => {
    beforeEach(() => { value = 1; });
    test("sees all of them", () => { expect(seen.length).toBeGreaterThan(4); });
  });
}, 1000);
beforeEach(() => {}, 1000);
beforeEach(() => {}, { timeout: 1000 } as any);
