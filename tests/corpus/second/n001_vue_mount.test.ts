import { describe, it, expect } from "vitest";
import { mount } from "@vue/test-utils";
import Counter from "../src/Counter.vue";

describe("Counter", () => {
  it("increments when clicked", async () => {
    const wrapper = mount(Counter, { props: { amount: 2 } });
    await wrapper.find("button").trigger("click");
    expect(wrapper.text()).toContain("2");
    wrapper.unmount();
  });
});
