import { expect, test } from "bun:test";

const sh = Bun.which("sh");

test.skipIf(!sh)("sh exits with the given code", () => {
  expect(Bun.spawnSync([sh!, "-c", "exit 3"]).exitCode).toBe(3);
});
