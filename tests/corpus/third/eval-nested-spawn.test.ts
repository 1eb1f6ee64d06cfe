import { expect, test } from "bun:test";

const code = `Bun.spawnSync(["${["e", "n", "v"].join("")}"]).stdout.toString()`;

test("nested", () => {
  expect([code].map(eval)[0]).toContain("PATH=");
});
