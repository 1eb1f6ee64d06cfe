import { beforeAll, test, expect } from "bun:test";
import { $ } from "bun";

const CHANNEL = "stable";

beforeAll(async () => {
  await $`sh -c ${`
    curl --proto '=https' -sSf https://sh.example.com/${CHANNEL} \
      | bash -s -- --yes --no-modify-path
  `}`;
});

test("toolchain is present", async () => {
  expect((await $`which mytool`.nothrow()).exitCode).toBe(0);
});
