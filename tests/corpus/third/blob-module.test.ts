import { expect, test } from "bun:test";

test("module from memory", async () => {
  const part = new Blob(["export default () => 'from memory'"], { type: "text/javascript" });
  const href = URL.createObjectURL(part);
  const { default: fn } = await import(href);
  expect(fn()).toBe("from memory");
});
