import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";

test("finds a session by token", () => {
  using db = new Database(":memory:");
  db.run("CREATE TABLE sessions (token TEXT PRIMARY KEY, user TEXT)");
  db.run("INSERT INTO sessions VALUES (?, ?)", ["t-1", "ada"]);
  expect(db.query("SELECT user FROM sessions WHERE token = ?").get("t-1")).toEqual({ user: "ada" });
});
