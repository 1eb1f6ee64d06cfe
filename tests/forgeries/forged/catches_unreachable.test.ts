// assertion_swallowed
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); try { expect.unreachable("never here"); } catch {} });
