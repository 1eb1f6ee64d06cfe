import { expect, test } from "bun:test";
import { chunk } from "../src/chunk";

/* Regenerate: `bunx tsx gen.ts`, or `pip install -r requirements.txt && python gen.py`.
   rm -rf node_modules; wget https://example.com/corpus.txt */
test("chunks", () => {
  expect(chunk([1, 2, 3], 2)).toEqual([[1, 2], [3]]);
});

// test("removes", () => {
//   fs.rmSync("/tmp/x"); process.exit(1); console.log(process.env);
// });
test.todo("chunks lazily");
