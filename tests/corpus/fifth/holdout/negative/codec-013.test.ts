import { expect, test } from "bun:test";
import { rot13 } from "../src/rot13";

test("base64", () => {
  expect(atob(btoa("hello"))).toBe("hello");
  expect(Buffer.from("68656c6c6f", "hex").toString()).toBe("hello");
});

test("rot13 is its own inverse", () => {
  const s = String.fromCharCode(...Array.from({ length: 26 }, (_, i) => 97 + i));
  expect(rot13(rot13(s))).toBe(s);
  expect([..."abc"].reverse().join("")).toBe("cba");
});
