import { describe, expect, it } from "bun:test";

const routes = ["/process/self/environment", "/procedures/:id/maps", "/products/1/fd"];
const match = (path: string) =>
  routes.find((r) => new RegExp("^" + r.replace(/:\w+/g, "[^/]+") + "$").test(path));

describe("router", () => {
  it("finds procedures", () => {
    expect(match("/procedures/12/maps")).toBe(routes[1]);
  });
  it("gives undefined for others", () => {
    expect(match("/proc")).toBeUndefined();
  });
});
