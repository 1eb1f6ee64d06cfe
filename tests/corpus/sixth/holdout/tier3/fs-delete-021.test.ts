import { afterEach, expect, test } from "bun:test";
import { mkdirSync, rmSync as removeTree, existsSync } from "node:fs";

const scratch = "/tmp/scratch-area";
const cleanup = () => removeTree(scratch, { recursive: true, force: true });

afterEach(cleanup);

test("scratch is made", () => {
  mkdirSync(scratch, { recursive: true });
  expect(existsSync(scratch)).toBe(true);
});
