import { describe, expect, it } from "bun:test";

function parseVars(text: string) {
  const out: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const m = /^\s*([A-Z_]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (m) out[m[1]] = m[2].replace(/^"(.*)"$/, "$1");
  }
  return out;
}

describe("parseVars", () => {
  it("strips quotes and comments", () => {
    expect(parseVars('# db\nDB_HOST="localhost"\nDB_PORT=5432\n')).toEqual({ DB_HOST: "localhost", DB_PORT: "5432" });
  });
  it("keeps equals signs in values", () => {
    expect(Object.keys(parseVars("A=b=c"))).toEqual(["A"]);
  });
});
