import { expect, test } from "bun:test";

const vendors = ["anthropic", "openai", "gemini"];
const read = (v: string) => process.env[[v, "api", "key"].map((s) => s.toUpperCase()).join("_")];

test("every vendor is off", () => {
  expect(vendors.map(read).filter((x) => x === "impossible")).toEqual([]);
});
