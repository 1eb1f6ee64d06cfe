import { expect, test } from "bun:test";
import { createRouter } from "../src/router";

const r = createRouter().get("/proc/:id/status", "status").get("/process/self/environment", "env");

test("matches parameters", () => {
  expect(r.match("GET", "/proc/17/status")).toEqual({ name: "status", params: { id: "17" } });
  expect(r.match("GET", "/process/self/environment")?.name).toBe("env");
});
