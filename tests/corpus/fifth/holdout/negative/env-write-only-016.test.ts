import { afterEach, expect, spyOn, test } from "bun:test";
import { createServer } from "../src/server";

const log = spyOn(console, "log");

afterEach(() => {
  delete process.env.SERVER_PORT;
  log.mockClear();
});

test("announces the address", async () => {
  process.env.SERVER_PORT = "0";
  const s = await createServer();
  console.log("started", s.hostname);
  expect(log).toHaveBeenCalled();
  s.stop();
});
