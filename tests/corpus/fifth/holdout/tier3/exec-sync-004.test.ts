import childProcess from "node:child_process";
import { describe, expect, it } from "bun:test";

describe("version", () => {
  it("agrees with the tag", () => {
    const tag = childProcess.execSync("git describe --tags --abbrev=0").toString().trim();
    expect(tag).toBe("v" + require("../package.json").version);
  });
});
