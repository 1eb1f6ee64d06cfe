// assertion_swallowed
// The same below an asymmetric matcher.
import { expect, test } from "bun:test";
let armed = false;
const p = () => new Proxy([1], { get(t: any, k) { if (armed) { armed = false; try { expect(1).toBe(2); } catch { console.log("unseen"); } } return t[k]; }, ownKeys(t) { return Reflect.ownKeys(t) } });
const look = (a: number, w: any) => { try { (expect(a).toBe as any)(1, w); } catch {} };
test("is wrong", async () => { for (const a of [0, 1]) { const w = p(); armed = a === 1; look(a, w); await Bun.sleep(3); } });
