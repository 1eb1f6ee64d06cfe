import * as machine from "node:vm";
import { expect, test } from "bun:test";

test("source module", async () => {
  const C = (machine as any)["SourceText" + "Module"];
  const m = new C("export const a = 1 + 1;");
  await m.link(() => {});
  await m.evaluate();
  expect(m.namespace.a).toBe(2);
});
