import { test, expect } from "bun:test";
import { connect } from "../src/db";

test("connects", async () => {
  console.log("connecting to", process.env.DATABASE_URL);
  const db = await connect();
  expect(db.ok).toBe(true);
});
