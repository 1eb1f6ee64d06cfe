import { afterEach, expect, test } from "bun:test";
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { Portal } from "../src/Portal";

let root: Root;
afterEach(() => act(() => root.unmount()));

test("portal mounts in its container", async () => {
  const mount = document.createElement("div");
  root = createRoot(mount);
  await act(async () => root.render(<Portal mount={mount}>hi</Portal>));
  expect(mount.textContent).toBe("hi");
});
