import { expect, test } from "bun:test";

const MANAGERS = { npm: "npm install", pnpm: "pnpm add", yarn: "yarn add" } as const;

function installHint(pkg: string, pm: keyof typeof MANAGERS) {
  return "```sh\n" + `${MANAGERS[pm]} ${pkg}` + "\n```";
}

test("renders a code block", () => {
  expect(installHint("my-lib", "pnpm")).toContain("my-lib");
  expect(installHint("my-lib", "npm").startsWith("```sh")).toBe(true);
});
