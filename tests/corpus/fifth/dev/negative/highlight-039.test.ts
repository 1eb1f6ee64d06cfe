import { expect, test } from "bun:test";
import { highlight } from "../src/highlight";

test("shell comments and pipes", () => {
  const html = highlight("cat access.log | sort | uniq -c # top", "sh");
  expect(html).toContain('<span class="op">|</span>');
});

test("member expressions", () => {
  const html = highlight("const port = process.argv[2] ?? config.env.port;", "js");
  expect(html).toContain('<span class="id">process</span>');
  expect(html.match(/class="kw"/g)).toHaveLength(1);
});
