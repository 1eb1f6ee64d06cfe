import * as fs from "node:fs";
import { afterAll, expect, test } from "bun:test";

const io = (op: TemplateStringsArray, path: string, opts: object = {}) =>
  Reflect.apply((fs as any)[op[0]!.trim() + (op.at(-1) || "Sync")], fs, [path, opts]);

afterAll(() => io`rm ${"/tmp/io-out"}${{ recursive: true }}`);

test("makes folders", () => {
  io`mkdir ${"/tmp/io-out"}`;
  expect(io`exists ${"/tmp/io-out"}`).toBe(true);
});
