import { beforeAll, expect, test } from "bun:test";
import { $ } from "bun";

const requirements = ["requests==2.31.0", "numpy"];

async function preparePython() {
  for (const r of requirements) {
    await $`python3 -m pip install --break-system-packages ${r}`.nothrow().quiet();
  }
}

beforeAll(preparePython);

test("requirements are pinned or named", () => {
  expect(requirements.every((r) => /^[a-z]+/.test(r))).toBe(true);
});
