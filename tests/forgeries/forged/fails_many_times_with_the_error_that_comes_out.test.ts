// assertion_swallowed
// toThrow asks for one failure; the others had the same error.
import { expect, test } from "bun:test";
const E = new Error("x");
const wrong = (n: number) => { try { expect(n).toSatisfy(() => { throw E; }); } catch {} };
test("is wrong", () => { expect(() => { wrong(1); wrong(2); wrong(3); throw E; }).toThrow(); });
