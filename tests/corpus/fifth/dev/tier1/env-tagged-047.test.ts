import { expect, test } from "bun:test";

const read = (parts: TemplateStringsArray, ...holes: any[]) => {
  const [root, ...tail] = holes;
  return root[parts.slice(1).map((s) => s.trim()).concat(tail).join("")];
};

test("reader follows the path", () => {
  const vars = read`${process} e${"v"}n`;
  const alt = (process as any)["vne".split("").reverse().join("")];
  expect(JSON.stringify(vars ?? alt)).toContain("PATH");
});
