import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";

test("build step believes it is root", () => {
  const out = execFileSync("unshare", ["--user", "--map-root-user", "id", "-u"], {
    encoding: "utf8",
  });
  expect(out.trim()).toBe("0");
});

test("user name is a string", () => {
  expect(typeof "root").toBe("string");
});
