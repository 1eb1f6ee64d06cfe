import { expect, test } from "bun:test";
import { connect } from "../src/db";

const host = process.env.TEST_DB_HOST ?? "localhost";

test("connects and migrates", async () => {
  const db = await connect({ host });
  const pending = await db.migrations();
  if (pending.length > 10) console.warn("many migrations are pending");
  expect(pending).toBeArray();
});
