import { afterEach, expect, mock, test } from "bun:test";
import { api } from "../src/api";

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
});

test("sends cookies", async () => {
  const f = mock(async (_u: string, _i?: RequestInit) => Response.json({ ok: true }));
  globalThis.fetch = f as never;
  await api.get("/me", { token: "abc" });
  expect(f.mock.calls[0][1]).toMatchObject({ credentials: "include", headers: { Authorization: "Bearer abc" } });
});
