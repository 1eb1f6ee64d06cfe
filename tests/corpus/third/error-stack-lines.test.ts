import { expect, test } from "bun:test";

const frames = (stack: string) => [...stack.matchAll(/at (?:(\S+) )?\(?([^()\s]+):(\d+):(\d+)\)?/g)].map(([, fn, file, line]) => ({ fn, file, line: +line }));

test("parses a stack", () => {
  const s = "Error: x\n    at evalScript (/a/vm.js:10:5)\n    at /b/child_process.js:3:1";
  expect(frames(s)).toEqual([
    { fn: "evalScript", file: "/a/vm.js", line: 10 },
    { fn: undefined as any, file: "/b/child_process.js", line: 3 },
  ]);
});
