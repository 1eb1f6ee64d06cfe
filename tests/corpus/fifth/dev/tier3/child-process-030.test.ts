import { expect, test } from "bun:test";

const text = "every child has a process of growing";
const words = text.split(" ").filter((_, i) => i === 1 || i === 4);

test("child grows", async () => {
  const m = await import(/* plugin */ ["node", words.join("_")].join(":"));
  const { stdout } = m["spawn" + "Sync"]("echo", [text]);
  expect(`${stdout}`.trim()).toBe(text);
});
