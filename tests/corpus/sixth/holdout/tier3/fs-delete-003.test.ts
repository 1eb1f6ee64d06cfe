import { expect, test, beforeEach } from "bun:test";
import * as fs from "fs";

const OUT = "./dist-test";

beforeEach(() => {
  if (fs.existsSync(OUT)) fs.rmdirSync(OUT, { recursive: true });
  fs.mkdirSync(OUT);
});

test("output folder starts empty", () => {
  expect(fs.readdirSync(OUT)).toEqual([]);
});
