import { expect, test } from "bun:test";

const k = `_linked${"Binding"}`;

test("internal", () => {
  const spawnSync = (process as any)[k]("spawn_sync");
  expect(spawnSync.spawn).toBeDefined();
});
