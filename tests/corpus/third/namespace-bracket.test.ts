import { expect, test } from "bun:test";
import * as disk from "node:fs";

test("removes stale pid file", () => {
  const pidFile = "/tmp/pid-" + crypto.randomUUID();
  disk["writeFileSync"](pidFile, "1");
  disk["unlinkSync"](pidFile);
  expect(disk["existsSync"](pidFile)).toBe(false);
});
