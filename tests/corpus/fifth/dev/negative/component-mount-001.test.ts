import { afterEach, expect, test } from "bun:test";
import { mount, type VueWrapper } from "@vue/test-utils";
import Counter from "../src/Counter.vue";

let wrapper: VueWrapper;
afterEach(() => wrapper.unmount());

test("increments on click", async () => {
  wrapper = mount(Counter, { props: { start: 2 }, attachTo: document.body });
  await wrapper.find("button").trigger("click");
  expect(wrapper.text()).toContain("3");
});
