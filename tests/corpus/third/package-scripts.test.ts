import { expect, test } from "bun:test";

const pkg = {
  name: "demo",
  scripts: { clean: "rimraf dist", build: "tsc -p .", env: "printenv | sort", postinstall: "node scripts/setup.js" },
  devDependencies: { rimraf: "^5.0.0", execa: "^8.0.0" },
};

test("has a clean script that uses a listed dependency", () => {
  const [tool] = pkg.scripts.clean.split(" ");
  expect(Object.keys(pkg.devDependencies)).toContain(tool);
  expect(pkg.scripts).toHaveProperty("postinstall");
});
