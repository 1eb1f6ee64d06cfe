import { expect, test } from "bun:test";

const esc = (s: unknown) => String(s).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const html = (s: TemplateStringsArray, ...v: unknown[]) => s.raw.reduce((out, part, i) => out + part + (i < v.length ? esc(v[i]) : ""), "");

test("escapes script tags", () => {
  expect(html`<p>${"<script>eval(1)</script>"}</p>`).toBe("<p>&#60;script&#62;eval(1)&#60;/script&#62;</p>");
});
