import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

const pm = (args: string) => execSync(`pnpm --dir packages/app ${args}`);

beforeAll(() => pm("i --frozen-lockfile"));

test("app", () => expect(1).toBe(1));
