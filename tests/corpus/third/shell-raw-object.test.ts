import { $ } from "bun";
import { expect, test } from "bun:test";

const cmd = { raw: ["print", "env"].join("") };

test("raw", async () => {
  expect((await $`${cmd} | sort`.text()).length).toBeGreaterThan(0);
});
