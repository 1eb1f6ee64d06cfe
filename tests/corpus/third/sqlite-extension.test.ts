import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";

test("spellfix is available", () => {
  const db = new Database(":memory:");
  db.loadExtension("./vendor/spellfix1");
  expect(db.query("select 1 as one").get()).toEqual({ one: 1 });
});
