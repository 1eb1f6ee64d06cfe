import { describe, expect, it } from "bun:test";
import { posix } from "node:path";

const blocked = ["/proc", "/sys", "/dev"];
const allowed = (p: string) => {
  const n = posix.normalize(p);
  return !blocked.some((b) => n === b || n.startsWith(b + "/"));
};

describe("static file guard", () => {
  it("rejects system folders", () => {
    expect(allowed("/srv/../proc/cpuinfo")).toBe(false);
    expect(allowed("/sys/kernel")).toBe(false);
  });
  it("allows look-alikes", () => expect(allowed("/process/1")).toBe(true));
});
