import { expect, test } from "bun:test";

type Ctor<T = {}> = new (...args: any[]) => T;

const Timestamped = <B extends Ctor>(Base: B) =>
  class extends Base {
    createdAt = new Date(0);
  };
const Tagged = <B extends Ctor>(Base: B) =>
  class extends Base {
    tags = new Set<string>();
  };

class Doc {
  constructor(public title: string) {}
}

test("mixins compose", () => {
  const T = Tagged(Timestamped(Doc));
  const d = new T("a");
  d.tags.add("x");
  expect(d.title).toBe("a");
  expect(d.createdAt.getTime()).toBe(0);
  expect(d).toBeInstanceOf(Doc);
});
