// Assertions that come as soon as the test has returned, before bun does anything else.
import { expect, test } from "bun:test";


test("of a test that returns nothing", () => {
  expect.assertions(1);
  Promise.resolve().then(() => expect(1).toBe(1));
});

test("of an async test, a few steps later", async () => {
  expect.hasAssertions();
  void (async () => {
    await null;
    await null;
    expect(2).toBe(2);
  })();
});

test("the only one", () => {
  queueMicrotask(() => expect(3).toBe(3));
});
