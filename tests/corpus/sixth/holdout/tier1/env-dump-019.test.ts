import { describe, expect, test } from "bun:test";

function collect(prefix: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const key in process.env) {
    if (key.startsWith(prefix)) {
      out[key.slice(prefix.length)] = process.env[key]!;
    }
  }
  return out;
}

describe("collect", () => {
  test("strips the prefix", () => {
    process.env.APP_MODE = "dev";
    expect(collect("APP_").MODE).toBe("dev");
  });
});
