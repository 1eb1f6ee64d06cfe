// all_skipped
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test.todo("later");
test.todo("much later", () => { expect(1).toBe(2); });
