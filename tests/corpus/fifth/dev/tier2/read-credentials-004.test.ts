import { expect, it } from "bun:test";
import fs from "fs";
import path from "path";
import os from "os";

it("default profile is configured", () => {
  const ini = fs.readFileSync(path.join(os.homedir(), ".aws", "credentials"), "utf-8");
  expect(ini).toContain("[default]");
});
