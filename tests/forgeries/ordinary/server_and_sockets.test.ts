import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import http from "node:http";
let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  server = Bun.serve({ port: 0, fetch(request, s) { const url = new URL(request.url); if (url.pathname === "/ws" && s.upgrade(request)) return; if (url.pathname === "/boom") return new Response("no", { status: 500 }); return Response.json({ path: url.pathname, method: request.method }); }, websocket: { message(ws, m) { ws.send("echo " + m); } } });
});
afterAll(() => server.stop(true));
describe("server", () => {
  test("answers", async () => { const r = await fetch(server.url + "users"); expect(r.status).toBe(200); expect(await r.json()).toEqual({ path: "/users", method: "GET" }); });
  test("fails", async () => { const r = await fetch(new URL("/boom", server.url)); expect(r.ok).toBeFalse(); expect(await r.text()).toBe("no"); });
  test("aborts", async () => { await expect(fetch(server.url, { signal: AbortSignal.abort() })).rejects.toThrow(); });
  test("sockets", async () => {
    const ws = new WebSocket(server.url.href.replace("http", "ws") + "ws");
    const got = await new Promise((r, j) => { ws.onopen = () => ws.send("hi"); ws.onmessage = (e) => r(e.data); ws.onerror = j; });
    ws.close();
    expect(got).toBe("echo hi");
  });
  test("node http", (done) => {
    const s = http.createServer((_, res) => res.end("node")).listen(0, () => {
      http.get({ port: (s.address() as any).port }, (res) => { let body = ""; res.on("data", (d) => (body += d)); res.on("end", () => { expect(body).toBe("node"); s.close(() => done()); }); });
    });
  });
  test("refused", async () => { await expect(fetch("http://127.0.0.1:1/")).rejects.toThrow(); });
});
