import { describe, expect, test } from "bun:test";

class Animal {}
class Dog extends Animal {}

describe("constructors", () => {
  test("own", () => {
    expect(new Dog().constructor).toEqual(Dog);
    expect(new Dog().constructor).not.toBe(Animal);
  });
  test("built in", () => {
    expect([].constructor).toBe(Array);
    expect("".constructor).toBe(String);
    expect((() => 1).constructor).toBe(Function);
    expect({}.constructor.name).toBe("Object");
  });
  test("prototype chain", () => {
    expect(Object.getPrototypeOf(Dog)).toBe(Animal);
    expect(Object.getPrototypeOf(Dog.prototype).constructor.name).toBe("Animal");
  });
});
