// an assertion fails behind fifty messages of a MessageChannel: the engine lists nothing of it, and the drain does not wait
import { expect, jest, test } from "bun:test";
const fail = () => { expect(1).toBe(2); };
test("is wrong", () => { expect(1).toBe(1); const c = new MessageChannel(); let n = 0; c.port1.onmessage = () => { if (++n > 50) fail(); c.port1.postMessage(1); }; c.port2.onmessage = () => c.port2.postMessage(1); c.port2.postMessage(1); });
