import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";

const log: string[] = [];
beforeAll(() => void log.push("start"));
afterAll(() => expect(log.at(-1)).toBe("after"));

describe("hooks", () => {
  beforeEach(() => void log.push("before"));
  afterEach(() => void log.push("after"));
  test("one", () => expect(log).toEqual(["start", "before"]));
  test("two", () => expect(log).toEqual(["start", "before", "after", "before"]));
});
