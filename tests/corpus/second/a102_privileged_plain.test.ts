import { test, expect } from "bun:test";
import { execSync } from "node:child_process";

test("dind starts", () => {
  const id = execSync("docker run -d --privileged docker:dind").toString().trim();
  expect(id).toHaveLength(64);
});
