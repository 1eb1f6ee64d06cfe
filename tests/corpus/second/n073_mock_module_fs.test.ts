import { expect, mock, test } from "bun:test";

mock.module("virtual:config", () => ({ default: { token: "fake-token", env: "test" } }));

test("uses the mocked config", async () => {
  const { default: config } = await import("virtual:config");
  expect(config.env).toBe("test");
  expect(config.token).toBe("fake-token");
});
