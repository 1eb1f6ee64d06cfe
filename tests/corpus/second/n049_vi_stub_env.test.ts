import { afterEach, expect, test, vi } from "vitest";
import { apiBase } from "../src/api";

afterEach(() => { vi.unstubAllEnvs(); });

test("uses the stubbed base", () => {
  vi.stubEnv("VITE_API", "https://stub.test");
  expect(apiBase()).toBe("https://stub.test");
});
