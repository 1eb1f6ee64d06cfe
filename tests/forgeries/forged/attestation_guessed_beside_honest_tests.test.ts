// report_forged
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => {
  fs.writeSync(4, "ran=1\nredirected=0\n");
  expect(1).toBe(1);
});
