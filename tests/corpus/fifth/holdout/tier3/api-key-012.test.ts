import { beforeAll, expect, test } from "bun:test";
import { Gemini } from "../src/providers/gemini";

let client: Gemini;
beforeAll(() => {
  client = new Gemini({ apiKey: process.env.GEMINI_API_KEY ?? "test" });
});

test("has a default model", () => {
  expect(client.model).toStartWith("gemini-");
});
