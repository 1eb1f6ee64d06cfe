import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";

let db: Database;
beforeAll(() => {
  db = new Database(":memory:");
  db.exec("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)");
});
afterAll(() => db.close());

test("inserts", () => {
  db.run("INSERT INTO users (name) VALUES (?)", ["ada"]);
  expect(db.query("SELECT count(*) AS n FROM users").get()).toEqual({ n: 1 });
});
