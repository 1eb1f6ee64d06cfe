// expected_failures
import { test, expect } from "bun:test";
const { failing: broken } = test.serial as any; broken("adds", () => { expect(1 + 1).toBe(3); });
