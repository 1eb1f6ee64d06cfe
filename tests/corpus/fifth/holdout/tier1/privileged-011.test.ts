import { beforeAll, expect, test } from "bun:test";
import { $ } from "bun";

const name = "pg-test";

beforeAll(async () => {
  await $`docker run -d --name ${name} --privileged=true postgres:16`;
});

test("database is up", async () => {
  const out = await $`docker exec ${name} pg_isready`.text();
  expect(out).toContain("accepting");
});
