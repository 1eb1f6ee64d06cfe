import { describe, expect, it } from "bun:test";

function parseEnvText(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const m = /^\s*(?:export\s+)?([\w.]+)\s*=\s*"?([^"#]*?)"?\s*(?:#.*)?$/.exec(line);
    if (m) out[m[1]] = m[2];
  }
  return out;
}

describe("dotenv syntax", () => {
  it("parses what a .env file holds", () => {
    expect(parseEnvText('A=1\nexport B="two" # note')).toEqual({ A: "1", B: "two" });
  });
});
