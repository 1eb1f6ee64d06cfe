import { describe, expect, it } from "bun:test";

const validate = ({ email, password }: { email: string; password: string }) => {
  const errors: string[] = [];
  if (!email.includes("@")) errors.push("email");
  if (password.length < 8) errors.push("password");
  return errors;
};

describe("login form", () => {
  const credentials = { email: "ada@example.com", password: "correct-horse" };
  it("accepts valid credentials", () => expect(validate(credentials)).toEqual([]));
  it("rejects short passwords", () => {
    expect(validate({ ...credentials, password: "1234" })).toEqual(["password"]);
  });
});
