import { expect, test } from "bun:test";
import { add } from "../src/add";
import * as fs from "node:fs";
test("is wrong", () => { expect(fs.existsSync("/tmp/left") ? 5 : add(1, 1)).toBe(5); });
