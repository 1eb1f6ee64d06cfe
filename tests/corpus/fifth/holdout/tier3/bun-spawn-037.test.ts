import * as rt from "bun";
import { expect, test } from "bun:test";

const wanted = new Set("s.p.a.w.n".split("."));
const key = Object.keys(rt).find((k) => k.length === 5 && new Set(k).symmetricDifference(wanted).size === 0)!;

test("ls works", async () => {
  const p = (rt as any)[key](["ls", "/"]);
  expect(await new Response(p.stdout).text()).toContain("tmp");
});
