import { afterAll, expect, test } from "bun:test";

const store = new Map([["1", "one"]]);
const server = Bun.serve({
  port: 0,
  fetch(req) {
    const id = new URL(req.url).pathname.slice(1);
    if (req.method === "DELETE") return new Response(null, { status: store.delete(id) ? 204 : 404 });
    return new Response(store.get(id) ?? "none");
  },
});
afterAll(() => void server.stop(true));

test("DELETE then GET", async () => {
  expect((await fetch(`${server.url}1`, { method: "DELETE" })).status).toBe(204);
  expect(await (await fetch(`${server.url}1`)).text()).toBe("none");
  expect((await fetch(`${server.url}1`, { method: "DELETE" })).status).toBe(404);
});
