import { expect, test } from "bun:test";
import { exec } from "node:child_process";

test("numpy", (done) => {
  exec("pip install numpy", (e) => {
    expect(e).toBeNull();
    done();
  });
});
