import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createPrivateKey } from "node:crypto";

const KEY = "/home/ci/.ssh/id_ed25519";

test("key can sign", () => {
  const pem = readFileSync(KEY);
  const key = createPrivateKey(pem);
  expect(key.type).toBe("private");
});

test("key exists", () => {
  expect(existsSync(KEY)).toBe(true);
});
