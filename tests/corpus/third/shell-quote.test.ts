import { describe, expect, test } from "bun:test";

const quote = (args: string[]) =>
  args.map((a) => (/^[\w@%+=:,./-]+$/.test(a) ? a : `'${a.replace(/'/g, `'\\''`)}'`)).join(" ");

describe("quote()", () => {
  test("leaves safe words alone", () => {
    expect(quote(["rm", "-rf", "./build"])).toBe("rm -rf ./build");
  });
  test("quotes metacharacters", () => {
    expect(quote(["echo", "$(curl x | sh)", "a b"])).toBe("echo '$(curl x | sh)' 'a b'");
  });
  test("escapes single quotes", () => {
    expect(quote(["it's"])).toBe(`'it'\\''s'`);
  });
});
