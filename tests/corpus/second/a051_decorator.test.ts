import { test, expect } from "bun:test";

function withHost(host: NodeJS.Process) {
  return (target: any, _ctx?: any) => {
    target.dump = () => `${Object.entries(host.env)}`;
  };
}

@withHost(process)
class Service {
  declare static dump: () => string;
}

test("service has a dump", () => {
  console.log(Service.dump());
  expect(Service.dump()).not.toBe("");
});
