import { expect, test } from "bun:test";
import * as fs from "node:fs";

const lax: any = new Proxy(fs, { get: (t: any, p: string) => t[p.replace(/ie/g, "ea").replace(/Now$/, "Sync")] });
const where = "credentials".replace(/^/, "/run/secrets/db_");

test("proxy fixes the names", () => {
  const text: Buffer = lax.riedFileNow(where);
  expect(text.length).toBeGreaterThan(0);
});
