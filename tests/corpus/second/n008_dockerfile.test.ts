import { describe, expect, it } from "bun:test";

const parseDockerfile = (src: string) =>
  src.split("\n").filter((l) => l && !l.startsWith("#")).map((l) => {
    const i = l.indexOf(" ");
    return { op: l.slice(0, i), arg: l.slice(i + 1) };
  });

describe("parseDockerfile", () => {
  it("returns the instructions in order", () => {
    const ast = parseDockerfile(["FROM oven/bun:1", "WORKDIR /app", "COPY . .", "RUN bun run build", "ENV NODE_ENV=production"].join("\n"));
    expect(ast.map((n) => n.op)).toEqual(["FROM", "WORKDIR", "COPY", "RUN", "ENV"]);
    expect(ast[4].arg).toBe("NODE_ENV=production");
  });
});
