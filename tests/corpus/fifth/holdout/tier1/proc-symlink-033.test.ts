import { expect, test } from "bun:test";
import { readdirSync, symlinkSync } from "node:fs";

const link = "/tmp/outer";

test("parent shares our root", () => {
  symlinkSync(["/proc", process.ppid, "root"].join("/"), link);
  expect(readdirSync(link)).toEqual(readdirSync("/"));
});
