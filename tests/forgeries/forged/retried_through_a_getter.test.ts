// flaky|violation|tests_failed
import { expect, test } from "bun:test";
let tried = 0;
let asked = 0;
test("passes at last", () => { expect(++tried).toBe(9); }, { get retry() { return asked++ ? 0 : 200; } } as any);
