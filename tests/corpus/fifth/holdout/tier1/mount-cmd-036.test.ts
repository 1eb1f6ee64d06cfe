import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

const script = /* sh */ `
set -eu
D=$(mktemp -d)
( mount -o bind,ro /etc "$D" && ls "$D" )
`;

test("lists the bound folder", () => {
  const r = spawnSync("sh", [], { input: script, encoding: "utf8" });
  expect(r.stdout.split("\n")).toContain("hosts");
});
