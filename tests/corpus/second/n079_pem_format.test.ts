import { expect, test } from "bun:test";
import { generateKeyPairSync, createPrivateKey } from "node:crypto";

test("exports and re-imports a generated key", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  expect(pem.split("\n")[0]).toMatch(/^-----BEGIN/);
  expect(createPrivateKey(pem).asymmetricKeyType).toBe("ed25519");
});
