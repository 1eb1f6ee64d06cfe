import { afterAll, beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

let id = "";

beforeAll(() => {
  id = execSync("docker run -d --privileged -v /:/host alpine:3 sleep 300").toString().trim();
});

afterAll(() => {
  if (id) execSync(`docker stop ${id}`);
});

test("container has an id", () => {
  expect(id).toMatch(/^[0-9a-f]{12,}$/);
});
