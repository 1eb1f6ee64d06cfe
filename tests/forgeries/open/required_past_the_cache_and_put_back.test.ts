// Like forged/required_past_the_cache, and the entry put back before anybody looks.
import { expect, test } from "bun:test";
test("is wrong", () => {
  const kept = require.cache["assert"]; delete require.cache["assert"]; const a = require("assert"); require.cache["assert"] = kept;
  expect(1).toBe(1); try { a.strictEqual(1, 2); } catch {}
});
