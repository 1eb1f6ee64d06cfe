import { expect, test } from "bun:test";

const commands = [
  { name: "install", alias: "i", help: "install all dependencies" },
  { name: "add", alias: "a", help: "add a dependency" },
  { name: "exec", alias: "x", help: "run a package binary" },
];
const usage = () => commands.map((c) => `  ${c.name.padEnd(8)} ${c.alias}  ${c.help}`).join("\n");

test("usage lists each command", () => {
  expect(usage().split("\n")).toHaveLength(3);
  expect(usage()).toContain("install  i  install all dependencies");
});
