import { expect, test } from "bun:test";

const setup = `
bash <<'SETUP'
python3 -m venv /tmp/v
/tmp/v/bin/pip --quiet install httpx
SETUP
`;

test("venv", () => {
  expect(Bun.spawnSync(["sh", "-c", setup]).exitCode).toBe(0);
});
