// assertion_swallowed
import { test } from "bun:test";
import { strict } from "node:assert";
import { createRequire } from "node:module";
const again = createRequire(import.meta.url)("assert");
test("is wrong", () => { strict.ok(true); try { again.strict.strict.equal(1, 2); } catch {} });
