import { EventEmitter } from "node:events";
import { expect, test } from "bun:test";

test("plugin event sets the flag", () => {
  const bus = new EventEmitter();
  bus.on("plugin", eval);
  bus.emit("plugin", "globalThis.pluginLoaded = 'yes'");
  expect((globalThis as any).pluginLoaded).toBe("yes");
});
