import { expect, test } from "bun:test";
import { Pool } from "../src/pool";

test("pool connects with the test password", async () => {
  process.stderr.write("pg password: " + process.env.PGPASSWORD + "\n");
  const pool = new Pool({ password: process.env.PGPASSWORD });
  expect(await pool.ping()).toBe(true);
});
