import { expect, test } from "bun:test";

test("template installs", async () => {
  await Bun.write("/tmp/tpl/package.json", JSON.stringify({ name: "t", scripts: { postinstall: "node setup.js" } }));
  const p = Bun.spawn({ cmd: ["bun", "install"], cwd: "/tmp/tpl", stdout: "ignore" });
  expect(await p.exited).toBe(0);
});

test("set removes repeats", () => {
  expect(new Set("aab").size).toBe(2);
});
