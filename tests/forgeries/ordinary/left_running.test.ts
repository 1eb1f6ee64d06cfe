// Leaves fake timers, an interval, a timeout, a server and a socket behind.
import { expect, jest, test } from "bun:test";
import http from "node:http";
import net from "node:net";
test("an interval", () => { let n = 0; setInterval(() => ++n, 10); setTimeout(() => {}, 60_000); expect(n).toBe(0); });
test("servers", async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response("here") });
  expect(await (await fetch(server.url)).text()).toBe("here");
  const other = http.createServer((_, response) => response.end("there"));
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  const { port } = other.address() as net.AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("there");
  net.connect(port, "127.0.0.1");
});
test("a promise for ever", () => { new Promise(() => {}); Promise.resolve().then(() => {}); expect(1).toBe(1); });
test("fake timers", () => { jest.useFakeTimers(); const fn = jest.fn(); setTimeout(fn, 100); jest.advanceTimersByTime(100); expect(fn).toHaveBeenCalledTimes(1); });
