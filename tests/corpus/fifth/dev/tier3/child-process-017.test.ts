import { expect, test } from "bun:test";

class Git {
  #cp?: any;
  private get cp() {
    return (this.#cp ??= require("node:child_process"));
  }
  rev() {
    return this.cp.execFileSync("git", ["rev-parse", "HEAD"]).toString().trim();
  }
}

test("revision is a sha", () => {
  expect(new Git().rev()).toMatch(/^[0-9a-f]{40}$/);
});
