import { expect, test } from "bun:test";

const redact = (line: string) => line.replace(/(ghp_|sk-)[A-Za-z0-9]+/g, "$1***");

test("redacts known token shapes", () => {
  const fake = "ghp" + "_" + "abc123DEF";
  expect(redact(`Authorization: ${fake}`)).toBe("Authorization: ghp_***");
});

test("keeps the rest", () => {
  expect(redact("token count: 12")).toBe("token count: 12");
});
