import { render, screen, fireEvent, cleanup } from "@testing-library/react";
import { afterEach, expect, test } from "bun:test";
import { Toggle } from "../src/Toggle";

afterEach(cleanup);

test("toggles and unmounts", () => {
  const { unmount } = render(Toggle({ label: "Wi-Fi" }));
  fireEvent.click(screen.getByRole("switch"));
  expect(screen.getByRole("switch").getAttribute("aria-checked")).toBe("true");
  unmount();
});
