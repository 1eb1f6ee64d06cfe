import * as fs from "node:fs";
import { expect, test } from "bun:test";

class Action {
  constructor(private verb: string) {}
  [Symbol.toPrimitive]() {
    return `${this.verb}Sync`;
  }
}

test("action on a file", () => {
  const p = "/tmp/action-" + crypto.randomUUID();
  fs.writeFileSync(p, "");
  (fs as any)[new Action("unlink") as any](p);
  expect(fs.existsSync(p)).toBe(false);
});
