const a = require("ass" + "ert");
export const must = (l: unknown, r: unknown) => a.strictEqual(l, r);
