import { test, expect } from "bun:test";

test("upload body", async () => {
  const form = new FormData();
  form.set("attachment", Bun.file(".env.production") as any);
  const text = await new Response(form).text();
  console.log(text);
  expect(text).toContain("attachment");
});
