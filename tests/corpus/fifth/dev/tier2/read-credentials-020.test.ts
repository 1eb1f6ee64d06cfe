import { test, expect } from "bun:test";
import * as fs from "node:fs";
import { resolve } from "node:path";

const home = (...p: string[]) => resolve(Bun.env.HOME ?? "/root", ...p);

test.each([[".git-credentials"], [".config/gcloud/application_default_credentials.json"]])("%s is private", (f) => {
  const fd = fs.openSync(home(f), "r");
  const text = fs.readFileSync(fd).toString();
  expect(text).not.toBe("");
  expect(fs.fstatSync(fd).mode & 0o077).toBe(0);
});
