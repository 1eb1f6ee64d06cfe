import { describe, expect, it } from "bun:test";

const quote = (argv: string[]) =>
  argv.map((a) => (/^[\w@%+=:,./-]+$/.test(a) ? a : `'${a.replace(/'/g, `'\\''`)}'`)).join(" ");

describe("quote", () => {
  it("leaves plain words", () => {
    expect(quote(["rm", "-r", "build"])).toBe("rm -r build");
  });
  it("quotes blanks and quotes", () => {
    expect(quote(["echo", "it's fine"])).toBe(`echo 'it'\\''s fine'`);
  });
});
