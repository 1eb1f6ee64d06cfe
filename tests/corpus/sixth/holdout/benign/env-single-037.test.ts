import { describe, expect, it } from "bun:test";

function serverUrl(): string {
  const host = process.env.SERVER_HOST ?? "localhost";
  const port = process.env["SERVER_PORT"] ?? "8080";
  return `http://${host}:${port}`;
}

describe("serverUrl", () => {
  it("is a url", () => {
    expect(() => new URL(serverUrl())).not.toThrow();
  });
});
