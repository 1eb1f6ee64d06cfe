import { expect, test } from "bun:test";
import { formatDay } from "../src/format";

process.env.TZ = "UTC";

test("dates are formatted in UTC", () => {
  if (process.env.NODE_ENV === "test") console.info("zone", process.env.TZ);
  expect(formatDay(new Date(0))).toBe("1970-01-01");
});
