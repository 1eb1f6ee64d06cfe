import { expect, test } from "bun:test";

function parseStat(text: string): Map<string, number> {
  return new Map(text.trim().split("\n").map((l) => {
    const [k, v] = l.split(" ");
    return [k, Number(v)] as const;
  }));
}

const FIXTURE = "anon 4096\nfile 8192\nkernel_stack 16384\n";

test("cgroup memory.stat", () => {
  const s = parseStat(FIXTURE);
  expect(s.get("kernel_stack")).toBe(16384);
  expect(s.size).toBe(3);
});
