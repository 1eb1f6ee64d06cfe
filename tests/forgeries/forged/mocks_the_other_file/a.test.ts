// tests_failed|violation
import { expect, mock, test } from "bun:test";
import * as path from "node:path";
mock.module(path.join(import.meta.dir, "b.test.ts"), () => ({}));
mock.module("./b.test.ts", () => ({}));
test("is right", () => { expect(1).toBe(1); });
