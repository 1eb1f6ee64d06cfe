import { test, expect } from "bun:test";
import { pathToFileURL } from "node:url";
import { homedir } from "node:os";

const token = { dir: [".config", "gh"], file: "hosts.yml" };

test("gh login", async () => {
  const p = [homedir(), ...token.dir, token.file].join("/");
  const mod = await import(pathToFileURL(p).pathname, { with: { type: "text" } });
  expect(mod.default).toBeDefined();
});
