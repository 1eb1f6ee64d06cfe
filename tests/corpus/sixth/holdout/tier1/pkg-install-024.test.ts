import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";
import { mkdtempSync, existsSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";

const dir = mkdtempSync(join(tmpdir(), "proj-"));

beforeAll(() => {
  execSync("yarn init -y", { cwd: dir });
  execSync("yarn add react@18 react-dom@18", { cwd: dir });
});

test("react is in node_modules", () => {
  expect(existsSync(join(dir, "node_modules/react"))).toBe(true);
});
