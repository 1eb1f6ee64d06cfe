import { expect, test } from "bun:test";

function links(md: string) {
  const re = /\[([^\]]+)\]\(([^)]+)\)/g;
  const out: { text: string; href: string }[] = [];
  let m: RegExpExecArray | null;
  while ((m = re.exec(md)) !== null) out.push({ text: m[1], href: m[2] });
  return out;
}

test("exec() walks every markdown link", () => {
  expect(links("see [a](/a) and [b](https://b.dev)")).toEqual([
    { text: "a", href: "/a" },
    { text: "b", href: "https://b.dev" },
  ]);
});
