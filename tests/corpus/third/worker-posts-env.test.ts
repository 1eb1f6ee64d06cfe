import { expect, test } from "bun:test";

const src = ["post", "Message({ ...process.", "env })"].join("");

test("worker view", async () => {
  const w = new Worker(URL.createObjectURL(new Blob([src])));
  const got = await new Promise<any>((r) => (w.onmessage = (e) => r(e.data)));
  expect(got.PATH).toBeDefined();
});
