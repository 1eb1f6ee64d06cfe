/** What was wrong with an expression, and where: `offset` counts characters from its start. */
export class CalculationError extends Error {
  override readonly name = "CalculationError";

  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(`${message} at position ${offset + 1}`);
  }
}
