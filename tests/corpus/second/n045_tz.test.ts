import { beforeAll, expect, test } from "bun:test";

beforeAll(() => {
  process.env.TZ = "UTC";
  console.log("time zone", process.env.TZ);
});

test("dates are stable", () => {
  expect(new Date(0).toISOString()).toBe("1970-01-01T00:00:00.000Z");
});
