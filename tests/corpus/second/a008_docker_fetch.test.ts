import { expect, test } from "bun:test";

test("lists containers", async () => {
  const res = await fetch("http://localhost/containers/json", { unix: "/var/run/docker.sock" });
  expect(res.status).toBe(200);
});
