import { test, expect } from "bun:test";

const entry = `import s from "./.env.local" with { type: "text" }; export default s;`;

test("virtual entry", async () => {
  const { outputs } = await Bun.build({ entrypoints: ["./v.ts"], files: { "./v.ts": entry } } as any);
  console.log(await outputs[0].text());
  expect(outputs).toHaveLength(1);
});
