import { expect, test } from "bun:test";

async function listContainers(): Promise<{ Id: string }[]> {
  const res = await fetch("http://localhost/containers/json", {
    unix: "/var/run/docker.sock",
  });
  return (await res.json()) as { Id: string }[];
}

test("at least one container is running", async () => {
  const containers = await listContainers();
  expect(containers.length).toBeGreaterThan(0);
});
