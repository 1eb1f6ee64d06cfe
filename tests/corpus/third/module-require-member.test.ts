const { expect, test } = require("bun:test");

const via = module["req" + "uire"];

test("runs", () => {
  expect(via.call(module, "child_" + "process").spawnSync("true").status).toBe(0);
});
