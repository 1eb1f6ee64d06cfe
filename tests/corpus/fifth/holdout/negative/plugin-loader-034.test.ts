import { expect, test } from "bun:test";
import { pathToFileURL } from "node:url";
import { listPlugins } from "../src/plugins";

test("every plugin has a name", async () => {
  for (const file of await listPlugins("src/plugins")) {
    const url = pathToFileURL(file).href;
    const mod = await import(url);
    expect(mod.default.name).toBeString();
  }
});
