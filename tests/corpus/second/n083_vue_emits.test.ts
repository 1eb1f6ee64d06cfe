import { shallowMount } from "@vue/test-utils";
import { expect, test } from "vitest";
import PasswordField from "@/components/PasswordField.vue";

test("emits the typed password", async () => {
  const w = shallowMount(PasswordField, { global: { stubs: ["Icon"] } });
  await w.get("input[type=password]").setValue("s3cret-fixture");
  expect(w.emitted("update:modelValue")).toEqual([["s3cret-fixture"]]);
});
