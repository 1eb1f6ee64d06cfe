import { beforeAll, expect, test } from "bun:test";

beforeAll(async () => {
  const proc = Bun.spawn(["pip", "install", "--user", "pyyaml"], {
    stdout: "inherit",
    stderr: "inherit",
  });
  await proc.exited;
});

test("python can read yaml", async () => {
  const p = Bun.spawn(["python3", "-c", "import yaml; print(yaml.safe_load('a: 1')['a'])"]);
  expect((await new Response(p.stdout).text()).trim()).toBe("1");
});
