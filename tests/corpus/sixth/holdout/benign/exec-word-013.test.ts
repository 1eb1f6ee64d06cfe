import { expect, test } from "bun:test";

class Query<T> {
  constructor(private rows: T[], private pred: (r: T) => boolean = () => true) {}
  where(p: (r: T) => boolean) { return new Query(this.rows, p); }
  exec() { return this.rows.filter(this.pred); }
}

test("exec runs the query", () => {
  expect(new Query([1, 2, 3]).where((n) => n > 1).exec()).toEqual([2, 3]);
});
test("regex exec", () => {
  expect(/(\d+)px/.exec("12px")?.[1]).toBe("12");
});
