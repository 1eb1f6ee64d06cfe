import { expect, mock, test } from "bun:test";
import { createPlayer } from "../src/player";
import { pip } from "../src/plugins/pip";

test("pip installs its button", () => {
  const player = createPlayer({ plugins: [] });
  const onEnter = mock(() => {});
  pip.install(player, { onEnter });
  player.buttons.get("pip")!.click();
  expect(onEnter).toHaveBeenCalled();
});
