// assertion_swallowed
import { expect, test } from "bun:test";
test.each([[1], [2]])("x %d", (n) => { try { expect(n).toBe(3); } catch {} }, { retry: 1 });
