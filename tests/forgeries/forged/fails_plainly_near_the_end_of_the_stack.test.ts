// assertion_swallowed
// There is room for the matcher, and none to note that it failed.
import { expect, test } from "bun:test";
const log: string[] = [];
let n = 0;
const dive = () => {
  try { dive(); } catch { }
  if (n > 60) return; ++n;
  try { expect(1).toBe(2); log.push("passed?"); } catch (e: any) { if (!(e instanceof RangeError)) n = 99; log.push(e instanceof RangeError ? "R" : "A:" + e.message.slice(0, 30)); }
};
test("is wrong", () => { dive(); console.log(log.join(" ")); });
