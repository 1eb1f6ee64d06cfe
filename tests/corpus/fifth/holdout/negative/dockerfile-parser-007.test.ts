import { expect, test } from "bun:test";
import { parseDockerfile } from "../src/dockerfile";

const source = `FROM debian:12-slim AS base
ENV NODE_ENV=production PORT=80
RUN --mount=type=cache,target=/var/cache/apt apt-get update \\
 && apt-get upgrade -y
COPY . /app
`;

test("continuation lines are one instruction", () => {
  const ins = parseDockerfile(source);
  expect(ins.map((i) => i.name)).toEqual(["FROM", "ENV", "RUN", "COPY"]);
  expect(ins[2].flags).toEqual({ mount: "type=cache,target=/var/cache/apt" });
});
