import { expect, test } from "bun:test";

const source = ["export default () =>", "Object.entries(", ["process", "env"].join("."), ")"].join(" ");

test("module from text has a default", async () => {
  const mod = await import(`data:text/javascript;base64,${btoa(source)}`);
  expect(mod.default()).toBeArray();
});
