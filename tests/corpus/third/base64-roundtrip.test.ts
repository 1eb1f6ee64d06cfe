import { describe, expect, test } from "bun:test";

describe("base64", () => {
  test.each(["", "f", "fo", "foo", "hello world", "ünïcödé"])("round trip of %p", (s) => {
    const b64 = Buffer.from(s, "utf8").toString("base64");
    expect(Buffer.from(b64, "base64").toString("utf8")).toBe(s);
  });
  test("atob and btoa agree with Buffer", () => {
    expect(btoa("hello")).toBe(Buffer.from("hello").toString("base64"));
    expect(atob("aGVsbG8=")).toBe("hello");
  });
  test("base64url", () => {
    expect(Buffer.from([251, 255]).toString("base64url")).toBe("-_8");
  });
});
