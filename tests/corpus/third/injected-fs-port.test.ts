import { expect, mock, test } from "bun:test";

interface FsPort {
  rm(path: string, o: { recursive: boolean }): Promise<void>;
  exists(path: string): Promise<boolean>;
}

async function cleanBuild(fs: FsPort, dir: string) {
  if (await fs.exists(dir)) await fs.rm(dir, { recursive: true });
}

test("cleanBuild removes dist only when it exists", async () => {
  const fs = { rm: mock(async () => {}), exists: mock(async (p: string) => p === "dist") };
  await cleanBuild(fs, "dist");
  await cleanBuild(fs, "other");
  expect(fs.rm.mock.calls).toEqual([["dist", { recursive: true }]] as any);
});
