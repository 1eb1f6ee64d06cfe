import { expect, test } from "bun:test";

(globalThis as any).expect = expect;

test.each([["expect(1 + 1).toBe(2)"], ["expect([].length).toBe(0)"]])("%s", eval as any);
