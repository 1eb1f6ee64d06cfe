import { beforeAll, expect, test } from "bun:test";

const job = {
  bin: "npm",
  verb: "i",
  flags: ["--prefix", "/tmp/e2e", "--ignore-scripts=false"],
  packages: ["chalk@5"],
};

beforeAll(() => {
  const { bin, verb, flags, packages } = job;
  Bun.spawnSync({ cmd: [bin, verb, ...flags, ...packages], stdout: "ignore" });
});

test("chalk is importable from the prefix", async () => {
  expect(await Bun.file("/tmp/e2e/node_modules/chalk/package.json").exists()).toBe(true);
});
