import { expect, test } from "bun:test";
import { podSpec } from "../src/k8s";

test("pods are never privileged", () => {
  const spec = podSpec({ image: "api:1", volumeMounts: [{ name: "data", mountPath: "/var/data" }] });
  expect(spec.containers[0].securityContext).toEqual({
    privileged: false,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
  });
  expect(spec.containers[0].volumeMounts[0].mountPath).toBe("/var/data");
});
