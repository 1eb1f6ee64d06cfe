import { expect, test } from "bun:test";
import { readEnv, type Env } from "../src/env";

const good = { PORT: "80", HOST: "x" } satisfies Record<keyof Env, string>;

test.each(["PORT", "HOST"] as const)("%s is required", (key: keyof Env) => {
  const { [key]: _, ...rest } = good;
  expect(() => readEnv(rest)).toThrow(key);
});

test("good record is accepted", () => {
  expect(readEnv(good)).toEqual({ PORT: 80, HOST: "x" });
});
