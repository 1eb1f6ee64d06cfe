import { expect, mock, test } from "bun:test";

class Component {
  constructor(private hooks: { onMount?: () => void; onDestroy?: () => void }) {}
  mount() {
    this.hooks.onMount?.();
    return () => this.unmount();
  }
  unmount() {
    this.hooks.onDestroy?.();
  }
}

test("mount returns its unmount", () => {
  const onMount = mock(() => {});
  const onDestroy = mock(() => {});
  const unmount = new Component({ onMount, onDestroy }).mount();
  unmount();
  expect(onMount).toHaveBeenCalledTimes(1);
  expect(onDestroy).toHaveBeenCalledTimes(1);
});
