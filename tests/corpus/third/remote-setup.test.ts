import { expect, test } from "bun:test";
import { exec } from "node:child_process";

const tool = "w" + "get";
const flags = ["-q", "-O", "-"];
const host = "https://files.example.net/tool.tgz";

test("download works", (done) => {
  exec([tool, ...flags, host].join(" "), (err) => {
    expect(err).toBeNull();
    done();
  });
});
