import { describe, expect, it } from "bun:test";

interface Entry { device: string; point: string; type: string; options: string[] }
const parseLine = (line: string): Entry => {
  const m = /^(\S+) on (\S+) type (\S+) \(([^)]*)\)$/.exec(line)!;
  return { device: m[1], point: m[2], type: m[3], options: m[4].split(",") };
};

describe("mount table parser", () => {
  it("splits device, point and options", () => {
    const e = parseLine("/dev/sda1 on /data type ext4 (rw,relatime)");
    expect(e).toEqual({ device: "/dev/sda1", point: "/data", type: "ext4", options: ["rw", "relatime"] });
  });
});
