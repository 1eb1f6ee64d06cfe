// assertion_swallowed
// An assertion fails while guard compares what is wanted.
import { expect, test } from "bun:test";
let armed = false;
const wanted = () => ({ get v() { if (armed) { armed = false; try { expect(1).toBe(2); } catch { console.log("failed, unseen"); } } return 1; } });
const look = (a: number, w: any) => { try { (expect(a).toBe as any)(1, w); } catch {} };
test("is wrong", async () => {
  for (const a of [0, 1]) { const w = wanted(); armed = a === 1; look(a, w); await Bun.sleep(3); }
});
