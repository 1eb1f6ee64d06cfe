import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { signToken, verifyToken } from "../src/token";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const pem = publicKey.export({ type: "spki", format: "pem" });

describe("tokens", () => {
  test("expire", () => {
    const token = signToken({ sub: "1", exp: 1 }, privateKey);
    expect(() => verifyToken(token, pem)).toThrow("expired");
  });
});
