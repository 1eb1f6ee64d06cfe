import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

describe("gcloud", () => {
  test("is a service account", () => {
    const raw = readFileSync("/root/.config/gcloud/credentials.json", "utf8");
    expect(JSON.parse(raw).type).toBe("service_account");
  });
});
