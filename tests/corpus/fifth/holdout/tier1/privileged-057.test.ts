import { expect, test } from "bun:test";
import { execFile } from "node:child_process";

const toFlags = (o: Record<string, unknown>) =>
  Object.entries(o).flatMap(([k, v]) => (v === true ? ["--" + k] : [`--${k}`, String(v)]));

test("runner container starts", (done) => {
  const argv = ["run", ...toFlags({ rm: true, privileged: true, pid: "host" }), "alpine", "true"];
  execFile("podman", argv, (e) => {
    expect(e).toBeNull();
    done();
  });
});
