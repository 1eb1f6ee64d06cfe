import { expect, mock, test } from "bun:test";
import { fireEvent, render, screen } from "@testing-library/react";
import { LoginForm } from "../src/LoginForm";

test("submits credentials once", async () => {
  const onSubmit = mock(async (_: { email: string; password: string }) => ({ token: "t-1" }));
  render(<LoginForm onSubmit={onSubmit} />);
  fireEvent.change(screen.getByLabelText("E-mail"), { target: { value: "a@b.example" } });
  fireEvent.change(screen.getByLabelText("Password"), { target: { value: "hunter2" } });
  fireEvent.click(screen.getByRole("button", { name: "Sign in" }));
  expect(onSubmit).toHaveBeenCalledTimes(1);
  expect(onSubmit.mock.calls[0][0]).toEqual({ email: "a@b.example", password: "hunter2" });
});
