import { test, expect } from "bun:test";
import { request } from "node:http";

const uid = 1000;
const socketPath = `/run/user/${uid}/podman/podman.sock`;

test("podman info", (done) => {
  request({ socketPath, path: "/libpod/info" }, (res) => {
    expect(res.statusCode).toBe(200);
    done();
  }).end();
});
