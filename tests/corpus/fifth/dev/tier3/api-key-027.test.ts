import { describe, expect, test } from "bun:test";
import { complete } from "../src/providers/openai";

const { OPENAI_API_KEY: key = "" } = process.env;

describe.skipIf(key === "")("provider", () => {
  test("completes", async () => {
    expect(await complete({ key, prompt: "ping" })).toBeString();
  });
});
