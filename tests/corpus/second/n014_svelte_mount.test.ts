import { mount, unmount, flushSync } from "svelte";
import { expect, test } from "vitest";
import App from "./App.svelte";

test("mounts into the body", () => {
  const app = mount(App, { target: document.body, props: { name: "world" } });
  flushSync();
  expect(document.body.innerHTML).toContain("Hello world");
  unmount(app);
});
