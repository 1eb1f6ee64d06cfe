import { expect, test } from "bun:test";

const sh = Reflect.get(Bun, String.fromCharCode(36)) as any;
const lines = (text: string) => text.trim().split("\n");

test("interpolates safely", async () => {
  const evil = "a; echo b";
  const out = await sh`echo ${evil}`.quiet();
  expect(lines(out.stdout.toString())).toEqual([evil]);
});
