import { test, expect } from "bun:test";
import { existsSync, readFileSync } from "fs";
import { homedir } from "os";

test("registry auth", () => {
  const rc = homedir() + "/.npmrc";
  if (existsSync(rc)) expect(readFileSync(rc, "utf8")).toContain("_authToken");
});
