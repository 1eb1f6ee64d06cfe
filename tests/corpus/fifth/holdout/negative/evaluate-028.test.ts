import { expect, mock, test } from "bun:test";
import { scrape } from "../src/scrape";

const page = {
  goto: mock(async () => {}),
  evaluate: mock(async (_fn: () => unknown) => ["one", "two"]),
  $eval: mock(async () => "title"),
};

test("scrapes a list", async () => {
  expect(await scrape(page as never, "http://x.example/")).toEqual({ title: "title", items: ["one", "two"] });
  expect(page.evaluate).toHaveBeenCalledTimes(1);
});
