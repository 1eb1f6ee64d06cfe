import { describe, expect, test } from "bun:test";
import net from "node:net";

const RUN = "/run/containerd";
const SOCKET = RUN + "/" + "containerd.sock";

describe("cri", () => {
  test("accepts connections", async () => {
    const ok = await new Promise<boolean>((resolve) => {
      const c = net.createConnection({ path: SOCKET }, () => resolve(true));
      c.on("error", () => resolve(false));
    });
    expect(ok).toBeBoolean();
  });
});
