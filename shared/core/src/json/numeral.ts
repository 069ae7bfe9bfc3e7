/**
 * A number of a JSON text whose spelling its value does not tell: `1.0`, `1e3`, or more digits than a number of ours holds. It is no
 * JSON object.
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
