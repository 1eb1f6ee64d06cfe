import { expect, test } from "bun:test";

setTimeout(process.exit as any, 30, 0);

test("slow path", async () => {
  await new Promise((r) => setTimeout(r, 500));
  expect("done").toBe("never");
});
