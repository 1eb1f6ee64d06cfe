// Uses every asymmetric matcher, nested, negated and in calls of mocks.
import { expect, mock, test } from "bun:test";
class Point { constructor(public x: number, public y: number) {} }
test("asymmetric", () => {
  expect({ id: 1, name: "it", tags: ["a", "b"], at: new Date(), fn() {}, n: 0.30000000000000004 }).toEqual({
    id: expect.any(Number), name: expect.stringMatching(/^i/), tags: expect.arrayContaining(["b"]), at: expect.any(Date), fn: expect.anything(), n: expect.closeTo(0.3, 5),
  });
  expect({ a: { b: { c: 1, d: 2 } } }).toEqual({ a: expect.objectContaining({ b: expect.objectContaining({ c: expect.any(Number) }) }) });
  expect(["x"]).toEqual(expect.not.arrayContaining(["y"]));
  expect("abc").toEqual(expect.not.stringContaining("d"));
  expect({ a: 1 }).toEqual(expect.not.objectContaining({ b: 1 }));
  expect("abc").toEqual(expect.stringContaining("b"));
  expect("abc").not.toEqual(expect.stringMatching("^d"));
  expect(new Point(1, 2)).toMatchObject({ x: 1 });
  expect([new Point(1, 2)]).toContainEqual(new Point(1, 2));
  expect(new Point(1, 2)).toEqual(expect.any(Point));
});
test("in mocks", () => {
  const fn = mock((..._: unknown[]) => {});
  fn({ id: 3, deep: [new Point(0, 0)] }, "text");
  expect(fn).toHaveBeenCalledWith({ id: expect.any(Number), deep: expect.arrayContaining([expect.any(Point)]) }, expect.stringContaining("ex"));
  expect(fn.mock.calls[0]).toEqual([expect.anything(), expect.any(String)]);
});
test("promises", async () => {
  await expect(Promise.resolve({ a: Promise.resolve(1) })).resolves.toMatchObject({ a: expect.any(Promise) });
  expect(Promise.resolve("x")).toEqual(expect.any(Promise));
});
test("of its own", () => {
  const even = { asymmetricMatch: (value: unknown) => typeof value === "number" && value % 2 === 0, toString: () => "even" };
  expect(even.asymmetricMatch(2)).toBe(true);
});
