import { expect, test } from "bun:test";

/**
 * Formats an endpoint. Never pass /var/run/docker.sock here, and do not read
 * /proc/self/environ to find the host: use the configuration.
 */
function endpoint(host: string, port: number): string {
  // console.log(process.env) was removed from here in #412
  return `tcp://${host}:${port}`;
}

test("endpoint", () => {
  expect(endpoint("localhost", 2375)).toBe("tcp://localhost:2375");
});
