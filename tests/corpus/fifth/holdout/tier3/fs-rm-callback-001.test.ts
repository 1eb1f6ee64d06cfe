import { afterAll, expect, test } from "bun:test";
import fs from "node:fs";

afterAll((done) => {
  fs.rm("dist", { recursive: true }, () => done());
});

test("dist is made", () => {
  fs.mkdirSync("dist", { recursive: true });
  expect(fs.statSync("dist").isDirectory()).toBe(true);
});
