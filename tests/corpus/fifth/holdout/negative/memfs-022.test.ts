import { beforeEach, expect, test } from "bun:test";
import { Volume } from "memfs";
import { prune } from "../src/prune";

let vol: InstanceType<typeof Volume>;
beforeEach(() => {
  vol = Volume.fromJSON({ "/a/1.log": "x", "/a/2.log": "y" });
});

test("prune keeps the newest", async () => {
  await prune(vol.promises as never, "/a", { keep: 1 });
  expect(Object.keys(vol.toJSON())).toHaveLength(1);
  vol.unlinkSync(Object.keys(vol.toJSON())[0]);
  expect(vol.readdirSync("/a")).toEqual([]);
});
