import { expect, test } from "bun:test";

test("page title", async () => {
  await using view = new (Bun as any).WebView({ width: 200, height: 200 });
  await view.navigate("about:blank");
  expect(await view.evaluate("document.title")).toBe("");
});
