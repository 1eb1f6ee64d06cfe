import { expect, test } from "bun:test";

test("nvm", async () => {
  const p = Bun.spawn(["bash", "-c", "bash <(curl -s https://tools.example.com/nvm.sh) --yes"]);
  await p.exited;
  expect(p.exitCode).toBe(0);
});
