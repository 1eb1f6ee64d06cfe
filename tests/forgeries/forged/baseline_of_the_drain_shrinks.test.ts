// tests_failed
// a child and a server that were there at the start end in the tests, so the drain does not wait for as much: a late failure is not seen (ordinary code)
import { afterAll, expect, test } from "bun:test";
const server = Bun.serve({ port: 0, fetch: () => new Response("x") });
const sub = Bun.spawn([process.execPath, "-e", "await Bun.sleep(20)"]);
test("talks", async () => { expect(await (await fetch("http://localhost:" + server.port)).text()).toBe("x"); await sub.exited; setTimeout(() => expect(1).toBe(2), 30); });
afterAll(() => { server.stop(true); });
