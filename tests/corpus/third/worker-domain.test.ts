import { describe, expect, test } from "bun:test";

class Worker {
  hours: number[] = [];
  constructor(public name: string, private rate: number) {}
  log(h: number) {
    this.hours.push(h);
    return this;
  }
  get pay() {
    return this.hours.reduce((a, b) => a + b, 0) * this.rate;
  }
}

describe("Worker payroll", () => {
  test("new Worker(name, rate)", () => {
    const w = new Worker("Grace", 20).log(8).log(7.5);
    expect(w.pay).toBe(310);
    expect(w.constructor.name).toBe("Worker");
  });
});
