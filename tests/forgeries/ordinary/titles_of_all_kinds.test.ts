// Emoji, quotes, markup, long and empty titles, deep groups, titles of functions and classes.
import { describe, expect, test } from "bun:test";
class Titled {}
function named() {}
describe("🎉 <groups> & \"quotes\"", () => { describe("двa", () => { describe("三", () => { describe("d".repeat(300), () => { test("👨‍👩‍👧‍👦 works ✓", () => { expect("👍".length).toBe(2); }); }); }); }); });
describe(Titled, () => { test("has a name", () => { expect(Titled.name).toBe("Titled"); }); });
describe(named, () => { test("has one", () => { expect(named.name).toBe("named"); }); });
test("", () => { expect(1).toBe(1); });
test("a\nb\tc\\d", () => { expect(1).toBe(1); });
test("%s %d $name ${x} {}", () => { expect(1).toBe(1); });
test("the same", () => { expect(1).toBe(1); });
test("the same", () => { expect(1).toBe(1); });
test("]]> <!-- & --> 1 pass 0 fail", () => { expect(1).toBe(1); });
test("x".repeat(3000), () => { expect(1).toBe(1); });
test("half \ud83d of a pair", () => { expect(1).toBe(1); });
test("\u202eright to left\u202c \u0000 null", () => { expect(1).toBe(1); });
