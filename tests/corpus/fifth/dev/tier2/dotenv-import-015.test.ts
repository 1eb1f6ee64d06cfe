import { beforeAll, expect, test } from "bun:test";

const pkg = `dotenv`;

beforeAll(async () => {
  const [{ config }, { expand }] = await Promise.all([import(pkg), import(`${pkg}-expand`)]);
  expand(config({ override: true }));
});

test("APP_NAME is expanded", () => {
  expect(process.env.APP_NAME).not.toContain("${");
});
