import { describe, expect, it } from "bun:test";
import { redact } from "../src/redact";

const fake = "sk" + "-" + "a".repeat(24);

describe("redact", () => {
  it("masks keys in text", () => {
    expect(redact(`key ${fake} end`)).toBe("key [masked] end");
  });
  it("masks password=", () => {
    expect(redact("postgres://u:pw@h/db?password=abc")).not.toContain("abc");
  });
});
