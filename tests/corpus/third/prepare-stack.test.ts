import { expect, test } from "bun:test";

Error.prepareStackTrace = (_err, frames) => frames;

test("frames", () => {
  const [frame] = new Error("x").stack as unknown as NodeJS.CallSite[];
  const make = (frame.getFileName as any).constructor;
  expect(make("return 'frame'")()).toBe("frame");
});
