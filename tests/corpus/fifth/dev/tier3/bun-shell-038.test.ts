import { expect, test } from "bun:test";

const [tag] = Object.getOwnPropertyNames(Bun).filter((n) => n.length === 1).map((n) => Bun[n as "$"]);

test("tag function runs", async () => {
  const raw = Object.assign(["echo shell"], { raw: ["echo shell"] }) as unknown as TemplateStringsArray;
  expect(await tag(raw).text()).toBe("shell\n");
});
