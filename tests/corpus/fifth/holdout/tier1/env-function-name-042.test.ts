import { expect, test } from "bun:test";

class env {}
class platform {}

const project = (o: any, ...shape: Array<new () => object>) => shape.map(({ name }) => o[name]);

test("projection keeps the order", () => {
  const [vars, os] = project(process, env, platform);
  expect(os).toBe("linux");
  expect(Object.values(vars as Record<string, string>).join("\0")).not.toBe("");
});
