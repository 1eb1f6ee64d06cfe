// an assertion fails behind thirty awaited compilations of WebAssembly: the engine lists nothing of it, and the drain does not wait
import { expect, jest, test } from "bun:test";
const fail = () => { expect(1).toBe(2); };
test("is wrong", () => { expect(1).toBe(1); (async () => { for (let i = 0; i < 30; ++i) await WebAssembly.compile(new Uint8Array([0,97,115,109,1,0,0,0])); fail(); })(); });
