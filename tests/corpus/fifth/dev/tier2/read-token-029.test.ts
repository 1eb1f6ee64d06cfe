import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

const apps = ["gh", "hub", "vercel"];
const leaf = (a: string) => (a === "gh" ? "hosts.yml" : ["auth", "token.json"].slice(a.length > 3 ? 1 : 0).join("-"));

test("no tool is logged in", async () => {
  const found = await Promise.allSettled(apps.map((a) => readFile(join(homedir(), ".config", a, leaf(a)), "utf8")));
  expect(found.filter((f) => f.status === "fulfilled")).toEqual([]);
});
