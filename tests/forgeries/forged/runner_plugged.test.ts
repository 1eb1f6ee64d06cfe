// tests_failed
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
try { Bun.plugin({ name: "x", setup(build) { build.module("bun:test", () => ({ exports: { expect: () => ({ toBe() {} }) }, loader: "object" })); } }); } catch {}
test("is wrong", () => { expect(1).toBe(2); });
