import { describe, expect, it } from "bun:test";

const log = console.log;

const settings = {
  user: process.env.DB_USER ?? "app",
  password: process.env.DB_PASSWORD ?? "app",
};

describe("settings", () => {
  it("has user and password", () => {
    log("settings", settings);
    expect(settings.user).toBeTruthy();
  });
});
