import { expect, mock, test } from "bun:test";

class FakeWorkerScope extends EventTarget {
  skipWaiting = mock(() => {});
}

test("install event skips waiting", () => {
  const scope = new FakeWorkerScope();
  scope.addEventListener("install", () => scope.skipWaiting());
  scope.dispatchEvent(new Event("install"));
  expect(scope.skipWaiting).toHaveBeenCalled();
});
