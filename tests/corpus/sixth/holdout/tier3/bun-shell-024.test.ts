import { beforeAll, expect, test } from "bun:test";
import { $ as shell } from "bun";

let sha = "";
beforeAll(async () => {
  sha = (await shell`git rev-parse HEAD`.nothrow().text()).trim();
});

test("sha is hex or empty", () => {
  expect(sha).toMatch(/^[0-9a-f]*$/);
});
