import { expect, test } from "bun:test";

test("opens the failing line", () => {
  const open = Bun.openInEditor;
  open(import.meta.path, { editor: "vscode", line: 3 });
  expect(open).toBeDefined();
});
