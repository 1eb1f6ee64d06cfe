import { test, expect } from "bun:test";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { userInfo } from "node:os";

const keys = { dir: ".ssh", current: "id_ed25519" } as const;

test("key streams", async () => {
  const home = process.env.HOME ?? userInfo().homedir;
  const s = createReadStream(resolve(home, keys.dir, keys.current), "utf8");
  expect((await Array.fromAsync(s)).join("")).not.toBe("");
});
