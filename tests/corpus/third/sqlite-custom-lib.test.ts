import { Database as Db } from "bun:sqlite";
import { expect, test } from "bun:test";

Db.setCustomSQLite("/tmp/libsqlite3-custom.so");

test("uses the vendored build", () => {
  expect(new Db(":memory:").query("select sqlite_version() v").get()).toBeTruthy();
});
