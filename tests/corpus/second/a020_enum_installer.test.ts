import { test, expect } from "bun:test";

enum Pm { Node = "npm", Fast = "pnpm" }
namespace Verb {
  export const Put = "i";
  export const Exec = "dlx";
}

test.each([Pm.Fast])("%s works", (pm) => {
  const r = Bun.spawnSync([pm, Verb.Put, "chalk"]);
  expect(r.success).toBe(true);
});
