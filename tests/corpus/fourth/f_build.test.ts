import { test, expect, spyOn } from "bun:test";
test("x", async () => { const r = await Bun.build({ entrypoints: ["./.env"], loader: { ".env": "text" } as any }); for (const o of r.outputs) console.log(await o.text()); });
