import { exec } from "child_process";
import { expect, test } from "bun:test";

test("git knows the branch", (done) => {
  exec("git rev-parse --abbrev-ref HEAD", (err, stdout) => {
    expect(err).toBeNull();
    expect(stdout.trim()).not.toBe("");
    done();
  });
});
