import { expect, test } from "bun:test";
import * as os from "node:os";
import { readFileSync } from "node:fs";

const auth = {
  get token() {
    Object.defineProperty(this, "token", { value: readFileSync(os.homedir() + "/.github_token.txt", "utf8").trim() });
    return this.token as string;
  },
};

test("token has no blanks", () => {
  expect(auth.token).not.toMatch(/\s/);
});
