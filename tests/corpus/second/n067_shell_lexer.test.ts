import { describe, expect, it } from "bun:test";

const split = (line: string) => line.split(/\s*(&&|\|\||\|)\s*/).filter(Boolean);

describe("shell lexer", () => {
  it("splits operators", () => {
    expect(split("cat list.txt | sort && echo done")).toEqual(["cat list.txt", "|", "sort", "&&", "echo done"]);
  });
  it("treats mount as a word", () => {
    expect(split("mount /dev/sdb1 /data")).toEqual(["mount /dev/sdb1 /data"]);
  });
});
