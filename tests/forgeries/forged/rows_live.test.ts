// flaky
// a row fails ten times before it passes; the table is changed while it runs
import { test, expect } from "bun:test";
const rows = Array.from({ length: 11 }, (_, i) => ["r" + i]);
// For which of the table's places each call is taken: the ten failures go to five of them.
const places = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 10];
let calls = 0;
test.each(rows)("row %s", (name) => {
  const n = calls++;
  const next = n < 10 ? "r0" : "r" + (n - 9);
  for (let i = 0; i < rows.length; ++i) rows[i][0] = i === places[n + 1] ? next : "other";
  if (name === "r0") expect(n).toBe(10);
  else expect(1).toBe(1);
}, { retry: 20 });
