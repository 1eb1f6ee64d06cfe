import * as fs from "node:fs";
import { expect, test } from "bun:test";

const mk = "mkdtemp" + "Disposable" + "Sync";

test("dispose", () => {
  const d = (fs as any)[mk]("/tmp/ds-");
  d[Symbol.dispose]();
  expect(fs.existsSync(d.path)).toBe(false);
});
