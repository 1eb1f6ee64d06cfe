import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
test("writes", () => { mkdirSync("/app/sandbox/out", { recursive: true }); writeFileSync("/app/sandbox/out/result.json", "{}"); expect(existsSync("/app/sandbox/out/result.json")).toBe(true); });
