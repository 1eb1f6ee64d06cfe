class A extends B { static { eval("1"); } #p = 1; get x() { return new.target } async *[`y`]() { yield* z } }
label: for (const k in process.env) continue label;
