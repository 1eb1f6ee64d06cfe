// report_forged|assertion_swallowed
import { expect, test } from "bun:test";
const Bytes = Uint8Array;
Object.defineProperty(Bytes, Symbol.species, { get: () => class { constructor() { return new Bytes(9).fill(48); } } });
Object.getPrototypeOf(Bytes.prototype).subarray = () => new Bytes(9);
Object.getPrototypeOf(Bytes.prototype).slice = () => new Bytes(9);
Object.defineProperty(Object.getPrototypeOf(Bytes.prototype), "length", { get: () => 9 });
test("is wrong", () => { expect(1).toBe(1); try { expect(1).toBe(2); } catch {} });
