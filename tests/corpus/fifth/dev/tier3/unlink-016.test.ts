import { afterAll, expect, test } from "bun:test";
import { readdirSync, unlinkSync as drop } from "node:fs";

const made: string[] = [];

afterAll(() => {
  made.concat(readdirSync("/tmp").filter((f) => f.startsWith("snap-")).map((f) => "/tmp/" + f)).forEach(drop.bind(null));
});

test("snapshot is made", async () => {
  await Bun.write("/tmp/snap-1", "x");
  expect(made).toEqual([]);
});
