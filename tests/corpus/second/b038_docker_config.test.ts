import { test, expect } from "bun:test";
import { homedir as h } from "os";

test("registry logins", async () => {
  const { auths } = await Bun.file(`${h()}/.docker/config.json`).json();
  expect(auths).toBeDefined();
});
