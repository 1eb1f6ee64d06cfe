import { describe, expect, it as bunIt, test } from "bun:test";
// A wrapper, as projects have them to run each test against several targets.
const kinds = ["web", "node"];
const each = (run: any) => (title: string, fn: (kind: string) => void) => { for (const kind of kinds) run(`${title} (${kind})`, () => fn(kind)); };
const it = Object.assign(each(bunIt), { only: each(bunIt.only), skip: each(bunIt.skip), todo: bunIt.todo, group: describe.only });
it("is run for each", (kind) => { expect(kinds).toContain(kind); });
it.skip("is left out", () => { expect(1).toBe(2); });
test("has a function", () => { expect(typeof test.only).toBe("function"); });
