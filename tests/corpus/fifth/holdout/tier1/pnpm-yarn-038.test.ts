import { expect, test } from "bun:test";

const verbs = { install: "i", remove: "rm" } as const;

function pnpm(verb: keyof typeof verbs, ...rest: string[]) {
  switch (verb) {
    case "install":
      return Bun.spawnSync(["pnpm", verbs[verb], ...rest]);
    default:
      throw new TypeError(verb);
  }
}

test("workspace package is linked", () => {
  expect(pnpm("install", "--offline=false", "nanoid").success).toBe(true);
});
