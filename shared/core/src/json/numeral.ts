/**
 * A JSON number with its spelling, for a spelling that the value does not preserve: `1.0`, `1e3`, or more digits than a JavaScript number
 * holds. It is not a JSON object.
 */
export class Numeral {
  readonly literal: string
  readonly value: number

  constructor(literal: string, value: number) {
    this.literal = literal
    this.value = value
  }

  toString(): string {
    return this.literal
  }

  toJSON(): number {
    return this.value
  }
}
