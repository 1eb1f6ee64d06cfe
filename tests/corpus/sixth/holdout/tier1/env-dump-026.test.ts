import { expect, test } from "bun:test";

const { env } = process;

function snapshot(): string {
  return Object.keys(env)
    .sort()
    .map((k) => `${k}: ${env[k]}`)
    .join("\n");
}

test("snapshot is stable within a run", () => {
  const a = snapshot();
  const b = snapshot();
  console.log(a);
  expect(a).toBe(b);
});
