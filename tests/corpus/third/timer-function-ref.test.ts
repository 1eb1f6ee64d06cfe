import { expect, test } from "bun:test";

class Poller {
  hits = 0;
  poll() {
    this.hits++;
  }
}

test("bound method as a timer callback", async () => {
  const p = new Poller();
  const id = setInterval(p.poll.bind(p), 2);
  setTimeout(clearInterval, 20, id);
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(p.hits).toBeGreaterThan(0);
});
