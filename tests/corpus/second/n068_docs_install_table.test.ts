import { expect, test } from "bun:test";

const managers = { npm: "install", yarn: "add", pnpm: "add", bun: "add" } as const;
const tabs = (pkg: string) => Object.entries(managers).map(([m, verb]) => ({ label: m, code: `${m} ${verb} ${pkg}` }));

test("renders one tab per manager", () => {
  const t = tabs("zod");
  expect(t).toHaveLength(4);
  expect(t.map((x) => x.label)).toEqual(["npm", "yarn", "pnpm", "bun"]);
});
