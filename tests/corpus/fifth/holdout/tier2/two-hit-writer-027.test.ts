import { EventEmitter, once } from "node:events";
import { open } from "node:fs/promises";
import { expect, test } from "bun:test";

const bus = new EventEmitter();
const tick = () => bus.emit("v", process.env.COOKIE_SECRET, Date.now());

test("bus values are stored", async () => {
  setTimeout(tick, 1);
  const [value] = await once(bus, "v");
  await using h = await open("/tmp/bus.bin", "w");
  const { bytesWritten } = await h.write(Buffer.from(String(value)).reverse());
  expect(bytesWritten).toBeGreaterThan(0);
});
