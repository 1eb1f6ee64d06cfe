// Module._load hands out the builtin's own assert, whose calls are not counted: a bare assert(value) is caught unseen

// assert
import M from "node:module";
const a = (M as any)._load("node:ass" + "ert");
test("is wrong", () => { expect(1).toBe(1); try { a.strictEqual(1, 2); } catch {} });
