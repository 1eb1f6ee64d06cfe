import { expect, test } from "bun:test";

const body = btoa("export const v = 'inline'");
const scheme = ["da", "ta"].join("") + ":text/javascript;base64,";

test("loads", async () => {
  const { v } = await import(scheme + body);
  expect(v).toBe("inline");
});
