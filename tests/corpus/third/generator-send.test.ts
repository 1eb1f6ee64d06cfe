import { expect, test } from "bun:test";

function* console_(): Generator<any, void, string> {
  let result: any;
  for (;;) result = (1, eval)(yield result);
}

test("interactive", () => {
  const g = console_();
  g.next();
  expect(g.next("1 << 4").value).toBe(16);
});
