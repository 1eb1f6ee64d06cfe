import { describe, expect, it } from "bun:test";

type Service = { image: string; privileged?: boolean; volumes?: string[] };
const lint = (services: Record<string, Service>) =>
  Object.entries(services).flatMap(([name, s]) => (s.privileged ? [`${name}: privileged is not allowed`] : []));

describe("compose linter", () => {
  it("reports privileged services", () => {
    expect(lint({ web: { image: "nginx" }, ci: { image: "dind", privileged: true } })).toEqual([
      "ci: privileged is not allowed",
    ]);
  });
  it("accepts a plain service", () => expect(lint({ db: { image: "postgres:16" } })).toEqual([]));
});
