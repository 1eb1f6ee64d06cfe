import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";

let db: Database;

beforeEach(() => {
  db = new Database(":memory:");
  db.exec("CREATE TABLE todo (id INTEGER PRIMARY KEY, title TEXT, done INT DEFAULT 0)");
});
afterEach(() => db.close());

test("delete removes only finished todos", () => {
  const add = db.prepare("INSERT INTO todo (title, done) VALUES (?, ?)");
  add.run("write", 1);
  add.run("review", 0);
  db.run("DELETE FROM todo WHERE done = 1");
  expect(db.query("SELECT title FROM todo").all()).toEqual([{ title: "review" }]);
});

test("drop", () => {
  db.exec("DROP TABLE todo");
  expect(() => db.query("SELECT * FROM todo").all()).toThrow("no such table");
});
