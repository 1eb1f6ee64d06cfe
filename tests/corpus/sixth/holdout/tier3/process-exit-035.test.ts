import { expect, test } from "bun:test";

const onFatal = (err: Error) => {
  console.error(err.message);
  process["exit"](70);
};

async function main(file: string) {
  await Bun.file(file).json().catch(onFatal);
}

test("main loads its input", async () => {
  await main("./input-that-is-optional.json");
  expect(typeof onFatal).toBe("function");
});
