import { expect, test } from "bun:test";

type EnvLike = Partial<Record<keyof NodeJS.ProcessEnv, string>>;

class Settings {
  constructor(private readonly env: EnvLike) {}
  get(name: string, fallback = "") { return this.env[name] ?? fallback; }
}

test("settings come from the given object", () => {
  const s = new Settings({ REGION: "eu" });
  expect(s.get("REGION")).toBe("eu");
  expect(s.get("ZONE", "a")).toBe("a");
});
