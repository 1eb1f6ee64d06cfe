import { expect, test } from "bun:test";

const { STRIPE_SECRET, STRIPE_REGION = "eu" } = process.env;

function client() {
  console.info("stripe client", { key: STRIPE_SECRET, region: STRIPE_REGION });
  return { region: STRIPE_REGION };
}

test("client has a region", () => {
  expect(client().region).toBe("eu");
});
