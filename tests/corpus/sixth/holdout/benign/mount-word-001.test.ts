import { describe, expect, it } from "bun:test";

interface Wrapper { text(): string; unmount(): void }

function mount(component: () => string, props: Record<string, unknown> = {}): Wrapper {
  let html: string | null = component.call(props);
  return { text: () => html ?? "", unmount: () => { html = null; } };
}

describe("Button", () => {
  it("mounts and unmounts", () => {
    const w = mount(() => "Save", { disabled: true });
    expect(w.text()).toBe("Save");
    w.unmount();
    expect(w.text()).toBe("");
  });
});
