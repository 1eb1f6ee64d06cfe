import { expect, test } from "bun:test";

const need = (id: string) => import.meta.require?.(id);
const { spawn } = need("child_process")!;

test("true exits with 0", async () => {
  const code = await new Promise((r) => spawn("true").on("exit", r));
  expect(code).toBe(0);
});
