import { expect, test } from "bun:test";

function parse(argv: string[]) {
  const [command, ...rest] = argv;
  const flags = rest.filter((a) => a.startsWith("-"));
  return { command, flags, packages: rest.filter((a) => !a.startsWith("-")) };
}

test("parses the install command", () => {
  expect(parse(["install", "--save-dev", "typescript"])).toEqual({
    command: "install",
    flags: ["--save-dev"],
    packages: ["typescript"],
  });
});

test("add is kept as it is", () => {
  expect(parse(["add", "zod"]).command).toBe("add");
});
