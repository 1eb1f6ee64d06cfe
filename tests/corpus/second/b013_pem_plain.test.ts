import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";

test("certificate is available", () => {
  const pem = readFileSync("certs/server.pem", "utf8");
  expect(pem.length).toBeGreaterThan(0);
});
