// assertion_swallowed
// There is room for the matcher, and none to note that it failed.
import { expect, test } from "bun:test";
let ran = 0, seen = 0, stop = false;
const dive = () => {
  try { dive(); } catch { }
  if (stop) return;
  const before = ran;
  try { expect(1).toSatisfy(() => { ++ran; return false; }); } catch (e) { if (ran > before) { ++seen; stop = true; console.log("failed:", String(e).slice(0, 50)); } }
};
test("is wrong", () => { expect(1).toBe(1); dive(); console.log("predicate ran", ran); });
