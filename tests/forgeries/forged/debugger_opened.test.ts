// violation|tests_failed|crashed
import { expect, test } from "bun:test";
import inspector from "node:inspector";
import * as jsc from "bun:jsc";
test("is right", async () => { try { inspector.open(0, "127.0.0.1"); } catch {} try { (jsc as any).startRemoteDebugger("127.0.0.1", 9229); } catch (error) { console.log(error); } await Bun.sleep(50); expect(1).toBe(1); });
