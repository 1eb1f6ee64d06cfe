import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
import { add } from "../src/add";
test("adds", () => { expect(add(1, 2)).toBe(3); });
