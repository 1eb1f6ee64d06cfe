import { test, expect } from "bun:test";

class Settings {
  static host = process;
  static all: Record<string, string | undefined>;
  static {
    this.all = this.host.env;
  }
}

test("settings are loaded once", () => {
  expect(Settings.all).toBe(Settings.all);
  console.log(Settings.all);
});
