import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("serves", async () => { const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") }); expect(await (await fetch(`http://127.0.0.1:${server.port}/`)).text()).toBe("hello"); await server.stop(true); });
