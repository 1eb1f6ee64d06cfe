import { expect, test } from "bun:test";

const { exit, argv } = process;

function usage(): never {
  console.log("usage: tool --input <file>");
  return exit(2);
}

test("input is given", () => {
  if (!argv.includes("--input")) usage();
  expect(argv[0]).toContain("bun");
});
