import { describe, expect, test } from "bun:test";
import { toCurl } from "../src/to-curl";

describe("toCurl", () => {
  test("GET", () => {
    expect(toCurl({ url: "https://api.example.com/v1" })).toBe("curl 'https://api.example.com/v1'");
  });
  test("pretty", () => {
    expect(toCurl({ url: "https://api.example.com/v1", pretty: true })).toBe(
      "curl -s 'https://api.example.com/v1' | jq .",
    );
  });
});
