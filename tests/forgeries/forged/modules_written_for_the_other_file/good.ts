(globalThis as any).answer = 5;
export const answer = 5;
