import { expect, test } from "bun:test";
import * as fs from "node:fs";
test("is wrong", () => { expect(fs.readdirSync("/tmp")).toContain("d"); });
