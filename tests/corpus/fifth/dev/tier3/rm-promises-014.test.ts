import { afterEach, expect, test } from "bun:test";
import * as disk from "node:fs/promises";

const cleaner = ({ rm }: typeof disk) => (p: string) => rm(p, { recursive: true });
const clean = cleaner(disk);

afterEach(() => clean("./.cache"));

test("cache folder is written", async () => {
  await disk.mkdir("./.cache", { recursive: true });
  expect((await disk.stat("./.cache")).isDirectory()).toBe(true);
});
