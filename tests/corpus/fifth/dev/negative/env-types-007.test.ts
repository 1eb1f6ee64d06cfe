import { expect, test } from "bun:test";
import { parseEnv } from "../src/env";

declare global {
  namespace NodeJS {
    interface ProcessEnv {
      APP_MODE?: "a" | "b";
    }
  }
}

type Input = Partial<NodeJS.ProcessEnv>;
const sample: Input = { APP_MODE: "a", NODE_ENV: "test" };

test("parseEnv narrows the mode", () => {
  expect(parseEnv(sample).mode).toBe("a");
  expect(() => parseEnv({ APP_MODE: "z" as never })).toThrow();
});
