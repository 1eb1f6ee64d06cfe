import { expect, test } from "bun:test";
import { existsSync, mkdtempDisposableSync } from "node:fs";

test("scope removes the folder", () => {
  let p = "";
  {
    using d = mkdtempDisposableSync("/tmp/disp-");
    p = d.path;
    expect(existsSync(p)).toBe(true);
  }
  expect(existsSync(p)).toBe(false);
});
