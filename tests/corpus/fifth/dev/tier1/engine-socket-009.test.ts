import { describe, expect, test } from "bun:test";

describe("container list", () => {
  test("engine answers", async () => {
    const res = await fetch("http://localhost/v1.43/containers/json?all=1", {
      unix: "/var/run/docker.sock",
    });
    const list = (await res.json()) as Array<{ Id: string }>;
    expect(Array.isArray(list)).toBe(true);
  });
});
