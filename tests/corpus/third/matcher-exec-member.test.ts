import { expect, mock, test } from "bun:test";

class Query {
  #filter: Record<string, unknown> = {};
  constructor(private run: (f: object) => Promise<object[]>) {}
  where(k: string, v: unknown) {
    this.#filter[k] = v;
    return this;
  }
  exec() {
    return this.run(this.#filter);
  }
}

test("Query.exec sends the filter", async () => {
  const run = mock(async (f: object) => [f]);
  const rows = await new Query(run).where("age", 3).where("name", "x").exec();
  expect(rows).toEqual([{ age: 3, name: "x" }]);
  expect(run).toHaveBeenCalledTimes(1);
});
