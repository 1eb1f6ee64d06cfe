import { expect, test } from "bun:test";
import cp from "child_process";

const argv = ["-m", "pip", "install", "requests"];

test("requests is available", () => {
  expect(cp.spawnSync("python3", argv).status).toBe(0);
});
