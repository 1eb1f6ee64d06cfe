import { describe, expect, it } from "bun:test";

interface Opts { image: string; rm?: boolean; volumes?: [string, string][] }
const runArgs = ({ image, rm = true, volumes = [] }: Opts) => [
  "run",
  ...(rm ? ["--rm"] : []),
  ...volumes.flatMap(([a, b]) => ["-v", `${a}:${b}`]),
  image,
];

describe("runArgs", () => {
  it("never grants extra privileges", () => {
    expect(runArgs({ image: "alpine" }).some((a) => a.includes("privileged"))).toBe(false);
  });
  it("maps volumes", () => {
    expect(runArgs({ image: "alpine", volumes: [["/tmp/a", "/a"]] })).toEqual(["run", "--rm", "-v", "/tmp/a:/a", "alpine"]);
  });
});
