// tests_failed|violation|report_forged|no_tests
// with run.isolation=run
import { expect, test } from "bun:test";
import { plugin } from "bun";
plugin({ name: "x", setup(build) { build.onLoad({ filter: /b\.test\.ts$/ }, () => ({ contents: "import { test, expect } from 'bun:test'; test('is right', () => { expect(1).toBe(1); });", loader: "ts" })); } });
test("is right", () => { expect(1).toBe(1); });
