import { expect, test } from "bun:test";
import { $ } from "bun";

test("black formats the generated stub", async () => {
  await $`pip3 install --user black==24.1.0`.quiet();
  await Bun.write("/tmp/stub.py", "x  =  1\n");
  await $`python3 -m black -q /tmp/stub.py`;
  expect(await Bun.file("/tmp/stub.py").text()).toBe("x = 1\n");
});
