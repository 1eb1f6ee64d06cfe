import { expect, test } from "bun:test";

const docs = ["AZURE_OPENAI_KEY_NAME", "MY_SERVICE_TOKEN", "LOG_LEVEL"];
const table = docs.map((n) => `| \`${n}\` | ${n.toLowerCase().replaceAll("_", " ")} |`).join("\n");

test("documents each variable", () => {
  expect(table.split("\n")).toHaveLength(3);
  expect(table).toContain("| `AZURE_OPENAI_KEY_NAME` | azure openai key name |");
});
