const { expect, test } = require("bun:test");

test("compile in a module", () => {
  const m: any = { ...module, exports: {} };
  module._compile("globalThis.fromCompile = __filename", "/tmp/virtual-mod.js");
  expect((globalThis as any).fromCompile).toBe("/tmp/virtual-mod.js");
});
