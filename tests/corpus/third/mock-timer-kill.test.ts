import { describe, expect, mock, test } from "bun:test";

function createTimer(tick: () => void) {
  let alive = true;
  return {
    fire: () => alive && tick(),
    kill: () => void (alive = false),
    get alive() {
      return alive;
    },
  };
}

describe("timer.kill()", () => {
  test("stops further ticks", () => {
    const tick = mock(() => {});
    const timer = createTimer(tick);
    timer.fire();
    timer.kill();
    timer.fire();
    expect(tick).toHaveBeenCalledTimes(1);
    expect(timer.alive).toBe(false);
  });
});
