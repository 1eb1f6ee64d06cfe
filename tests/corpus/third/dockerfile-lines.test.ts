import { expect, test } from "bun:test";

const dockerfile = [
  "FROM oven/bun:1",
  "RUN apt-get update && apt-get install -y curl wget",
  "RUN bun install --frozen-lockfile",
  'CMD ["bun", "run", "start"]',
].join("\n");

const parse = (s: string) => s.split("\n").map((l) => /^(\w+)\s+(.*)$/.exec(l)!).map(([, op, arg]) => ({ op, arg }));

test("collects RUN instructions", () => {
  const runs = parse(dockerfile).filter((i) => i.op === "RUN");
  expect(runs.map((r) => r.arg.split(" ")[0])).toEqual(["apt-get", "bun"]);
});
