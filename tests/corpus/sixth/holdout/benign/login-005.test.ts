import { describe, expect, it, mock } from "bun:test";

interface Credentials { username: string; password: string }

async function login(c: Credentials, post: (u: string, b: unknown) => Promise<{ token: string }>) {
  if (!c.password) throw new Error("password required");
  return (await post("/api/login", c)).token;
}

describe("login form", () => {
  it("returns the session token", async () => {
    const post = mock(async () => ({ token: "t-1" }));
    expect(await login({ username: "ada", password: "pw" }, post)).toBe("t-1");
    expect(post).toHaveBeenCalledTimes(1);
  });
  it("wants a password", () => {
    expect(login({ username: "a", password: "" }, async () => ({ token: "" }))).rejects.toThrow("password");
  });
});
