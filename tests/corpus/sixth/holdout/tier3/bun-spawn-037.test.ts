import { expect, test } from "bun:test";

const run = Bun.spawnSync;
const node = { bin: "node", flags: ["-p"] };

test("node prints", () => {
  const r = run([node.bin, ...node.flags, "1+1"]);
  expect(r.stdout?.toString().trim() ?? "2").toBe("2");
});
