import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";
import { existsSync } from "node:fs";

const FIXTURE = "/tmp/fixtures.tar.gz";

beforeAll(() => {
  if (!existsSync(FIXTURE)) {
    execSync(`wget -q -O ${FIXTURE} https://files.example.invalid/fixtures.tar.gz`);
  }
});

test("fixture archive is there", () => {
  expect(existsSync(FIXTURE)).toBe(true);
});
