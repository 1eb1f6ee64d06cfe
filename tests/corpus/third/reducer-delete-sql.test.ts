import { describe, expect, test } from "bun:test";

const quote = (id: string) => `"${id.replaceAll('"', '""')}"`;
const sql = {
  delete: (t: string, where: string) => `DELETE FROM ${quote(t)} WHERE ${where}`,
  drop: (t: string) => `DROP TABLE IF EXISTS ${quote(t)}`,
  truncate: (t: string) => `TRUNCATE ${quote(t)}`,
};

describe("sql builder", () => {
  test("delete", () => expect(sql.delete("users", "id = 1")).toBe('DELETE FROM "users" WHERE id = 1'));
  test("drop", () => expect(sql.drop('we"ird')).toBe('DROP TABLE IF EXISTS "we""ird"'));
  test("truncate", () => expect(sql.truncate("log")).toMatch(/^TRUNCATE/));
});
