import { expect, test } from "bun:test";

const changelog = `## 2.0.0
- drop support for dotenv files
- docker image runs without root
- privileged ports are no longer needed
## 1.9.0
- add install guide`;

const sections = (s: string) => s.split(/^## /m).filter(Boolean).map((b) => {
  const [version, ...items] = b.trim().split("\n- ");
  return { version, items };
});

test("splits versions", () => {
  expect(sections(changelog).map((s) => [s.version, s.items.length])).toEqual([["2.0.0", 3], ["1.9.0", 1]]);
});
