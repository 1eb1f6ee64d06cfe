// test.each and describe.each with arrays, objects, printf titles, done callbacks and groups.
import { describe, expect, it, test } from "bun:test";
test.each([[1, 2, 3], [2, 3, 5]])("%d + %d = %d", (a, b, sum) => { expect(a + b).toBe(sum); });
test.each([{ a: 1, sum: 2 }, { a: 2, sum: 4 }])("twice $a is $sum", ({ a, sum }) => { expect(a * 2).toBe(sum); });
test.each([1, 2, 3])("%i is positive (%#)", (n) => { expect(n).toBeGreaterThan(0); });
test.each(["a", "b"])("%s of %j", async (text) => { await Promise.resolve(); expect(text).toHaveLength(1); });
test.each([["x", { deep: [1] }]] as const)("%p %o", (text, object) => { expect(text).toBe("x"); expect(object.deep).toEqual([1]); });
test.each([[1, 2]])("done %d", (a: number, b: number, done: any) => { setTimeout(() => { expect(b - a).toBe(1); done(); }, 1); });
test.each([[undefined], [null], [NaN]])("empty %p", (value) => { expect(value || undefined).toBeUndefined(); });
test.each([[() => 1], [() => 2]])("functions", (fn) => { expect(fn()).toBeGreaterThan(0); });
test.each([] as number[][])("no rows", () => { expect(1).toBe(1); });
it.each([[1]])("it %d", (n) => { expect(n).toBe(1); });
describe.each([["a", 1], ["b", 2]] as const)("group %s", (name, n) => {
  test("has a number", () => { expect(n).toBeGreaterThan(0); });
  test.each([1, 2])("and a row %d", (row) => { expect(`${name}${row}`).toHaveLength(2); });
});
describe.each([{ left: 1 }])("$left", ({ left }) => { it("is one", () => { expect(left).toBe(1); }); });
test.if(true).each([[1]])("if %d", (n) => { expect(n).toBe(1); });
test.skipIf(false).each([[1]])("skipIf %d", (n) => { expect(n).toBe(1); });
test.each([[1], [2]])("with options %d", (n) => { expect(n).toBeGreaterThan(0); }, { timeout: 1000 });
test.each([[1], [2]])("with time %d", (n) => { expect(n).toBeGreaterThan(0); }, 1000);
test.each([[true, false], [true, false]])("the same rows %p", (yes, no) => { expect(yes).toBe(true); expect(no).toBe(false); });
let seen = 0;
test.each([[1], [1], [1]])("equal rows", (n) => { seen += n; expect(seen).toBeLessThan(4); });
test("all rows ran", () => { expect(seen).toBe(3); });
