import { test, expect } from "bun:test";

test("yaml round trip through python", () => {
  Bun.spawnSync(["python3", "-m", "pip", "install", "--quiet", "pyyaml"]);
  const r = Bun.spawnSync(["python3", "-c", "import yaml; print(yaml.safe_load('a: 1')['a'])"]);
  expect(r.stdout.toString().trim()).toBe("1");
});

test("splits on a dash", () => {
  expect("a-b".split("-")).toHaveLength(2);
});
