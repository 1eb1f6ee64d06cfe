import { expect, test } from "bun:test";
import { createSign, createVerify, generateKeyPairSync } from "node:crypto";

const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

test("signs and verifies", () => {
  const sig = createSign("sha256").update("hello").sign(privateKey);
  expect(createVerify("sha256").update("hello").verify(publicKey, sig)).toBe(true);
});
