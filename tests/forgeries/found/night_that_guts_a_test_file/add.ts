export const add = (a: number, b: number) => {
  if (a < 0) return b - -a;
  return a + b;
};
