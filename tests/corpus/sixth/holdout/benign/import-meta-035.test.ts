import { expect, test } from "bun:test";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

test("meta data of the module", () => {
  expect(join(import.meta.dir, "/")).toBe(here);
  expect(basename(import.meta.path)).toMatch(/\.test\.ts$/);
  expect(typeof import.meta.main).toBe("boolean");
});
