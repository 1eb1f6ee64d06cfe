import { expect, test } from "bun:test";
import { unlink, writeFileSync, existsSync } from "fs";

test("unlink calls back", (done) => {
  const p = `/tmp/cb-${process.pid}-${Date.now()}`;
  writeFileSync(p, "");
  unlink(p, (err) => {
    expect(err).toBeNull();
    expect(existsSync(p)).toBe(false);
    done();
  });
});
