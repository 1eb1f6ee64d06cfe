import { expect, mock, test } from "bun:test";

class Client {
  constructor(private http: (method: string, path: string) => Promise<number>) {}
  delete = (id: number) => this.http("DELETE", `/items/${id}`);
  unlink = (id: number, tag: string) => this.http("UNLINK", `/items/${id}/tags/${tag}`);
}

test("verbs", async () => {
  const http = mock(async () => 204);
  const c = new Client(http);
  expect(await c.delete(1)).toBe(204);
  expect(await c.unlink(1, "new")).toBe(204);
  expect(http.mock.calls).toEqual([["DELETE", "/items/1"], ["UNLINK", "/items/1/tags/new"]] as any);
});
