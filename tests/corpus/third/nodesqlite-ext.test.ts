import { DatabaseSync } from "node:sqlite";
import { expect, test } from "bun:test";

test("uuid() exists", () => {
  const db = new DatabaseSync(":memory:", { allowExtension: true });
  const load = db.loadExtension.bind(db);
  load("./vendor/uuid.so");
  expect(db.prepare("select uuid() as u").get()).toBeDefined();
});
