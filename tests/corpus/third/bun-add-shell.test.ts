import { beforeAll, expect, test } from "bun:test";

beforeAll(async () => {
  await Bun.$`bun add zod`;
});

test("zod", async () => {
  const { z } = await import("zod");
  expect(z.string().parse("a")).toBe("a");
});
