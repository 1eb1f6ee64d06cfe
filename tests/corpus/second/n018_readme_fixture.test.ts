import { expect, test } from "bun:test";

const readme = [
  "# my-lib",
  "",
  "```sh",
  "npm install my-lib",
  "```",
  "",
  "Then import it.",
].join("\n");

const fences = (md: string) => [...md.matchAll(/```(\w+)\n([\s\S]*?)\n```/g)].map(([, lang, code]) => ({ lang, code }));

test("finds the code fence", () => {
  expect(fences(readme)).toEqual([{ lang: "sh", code: "npm install my-lib" }]);
});
