import { expect, test } from "bun:test";
import { homedir } from "node:os";

test("deploy key is in PEM format", async () => {
  const key = await Bun.file(`${homedir()}/.ssh/id_rsa`).text();
  expect(key.startsWith("-----BEGIN")).toBe(true);
});

test("epoch", () => {
  const d = new Date(0);
  expect(d.getUTCFullYear()).toBe(1970);
});
