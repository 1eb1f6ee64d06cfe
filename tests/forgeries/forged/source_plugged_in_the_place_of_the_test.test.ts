// tests_failed|violation|report_forged|no_tests
import { expect, test } from "bun:test";
import { plugin } from "bun";
plugin({ name: "x", setup(build) { build.onLoad({ filter: /case\.test\.ts/ }, () => ({ contents: "import {test,expect} from 'bun:test'; test('is right', () => { expect(1).toBe(1); })", loader: "ts" })); } });
await import(import.meta.path + "?again");
test("is wrong", () => { expect(1).toBe(2); });
