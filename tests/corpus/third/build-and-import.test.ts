import { expect, test } from "bun:test";

test("bundle runs", async () => {
  const out = await Bun.build({
    entrypoints: ["/entry.ts"],
    files: { "/entry.ts": "export const size: number = 'four'.length" },
  } as any);
  const code = await out.outputs[0].text();
  const m = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  expect(m.size).toBe(4);
});
