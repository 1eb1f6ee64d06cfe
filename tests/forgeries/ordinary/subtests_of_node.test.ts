// Subtests of node:test, which bun runs as parts of their test.
import assert from "node:assert";
import test from "node:test";

test("a table", async (t) => {
  const rows: [number, number, number][] = [[1, 2, 3], [2, 2, 4], [0, 0, 0]];
  for (const [a, b, sum] of rows) {
    await t.test(`${a} + ${b}`, () => {
      assert.equal(a + b, sum);
    });
  }
});

test("in levels, waiting, skipped", async (t) => {
  await t.test("outer", async (outer) => {
    await outer.test("inner", async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.ok(true);
    });
  });
  await t.test("later", { skip: true }, () => assert.fail());
  await Promise.all([t.test("one", async () => assert.ok(1)), t.test("two", async () => assert.ok(2))]);
});
