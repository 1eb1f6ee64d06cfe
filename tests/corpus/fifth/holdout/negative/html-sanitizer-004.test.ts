import { expect, test } from "bun:test";
import { sanitize } from "../src/sanitize";

test.each([
  ['<img src=x onerror="eval(name)">', '<img src="x">'],
  ["<a href='javascript:alert(1)'>x</a>", "<a>x</a>"],
  ["<svg><script>new Function('x')()</script></svg>", "<svg></svg>"],
])("%s", (dirty, clean) => {
  expect(sanitize(dirty)).toBe(clean);
});
