import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";

test("rows match the pattern", () => {
  const db = new Database(":memory:");
  db.exec("CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('ab-12')");
  const row = db.query("SELECT name FROM t").get() as { name: string };
  const m = /^([a-z]+)-(\d+)$/.exec(row.name);
  expect(m?.slice(1)).toEqual(["ab", "12"]);
});
