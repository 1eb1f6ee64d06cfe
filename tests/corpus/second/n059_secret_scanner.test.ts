import { describe, expect, it } from "bun:test";

const risky = (name: string) => /(^|\/)(id_(rsa|ed25519)|\.env(\..+)?|.*\.pem)$/.test(name);

describe("risky file names", () => {
  it.each(["id_rsa", "deploy/.env.production", "tls/server.pem"])("%s is risky", (n) => {
    expect(risky(n)).toBe(true);
  });
  it.each(["id_rsa.pub", "environment.ts", "pem.md"])("%s is fine", (n) => {
    expect(risky(n)).toBe(false);
  });
});
