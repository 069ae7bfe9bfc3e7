import { printJson } from '../json/print.ts'
import type { StructuralSchema } from './schema.ts'

/**
 * Shares equal schemas. Parts must be interned before the whole, so that wholes can be compared by the numbers of their
 * parts. All versions of a definition use one interner, because their schemas are mostly equal.
 */
export class SchemaInterner {
  readonly #byText = new Map<string, StructuralSchema>()
  readonly #numbers = new Map<StructuralSchema, number>()

  /** The shared instance of this schema, whose parts were all interned here. */
  intern(schema: StructuralSchema): StructuralSchema {
    const text = this.#textOf(schema)
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    this.#byText.set(text, schema)
    this.#numbers.set(schema, this.#numbers.size)
    return schema
  }

  #textOf(schema: StructuralSchema): string {
    const { properties, items, additionalProperties, junctors, ...rest } = schema
    // Most schemas have no parts. Their text never equals that of a schema with parts.
    if (properties === undefined && items === undefined && additionalProperties === undefined && junctors === undefined)
      return printJson(schema)
    const parts: unknown[] = [rest, this.#numberOf(items)]
    parts.push(typeof additionalProperties === 'boolean' ? additionalProperties : this.#numberOf(additionalProperties))
    parts.push(properties === undefined ? null : [...properties].flatMap(([name, property]) => [name, this.#numberOf(property)]))
    if (junctors !== undefined)
      parts.push(this.#numbersOf(junctors.allOf), this.#numbersOf(junctors.anyOf), this.#numbersOf(junctors.oneOf))
    if (junctors !== undefined) parts.push(this.#numberOf(junctors.not))
    return printJson(parts)
  }

  #numberOf(schema: StructuralSchema | undefined): number | null {
    return schema === undefined ? null : (this.#numbers.get(schema) ?? null)
  }

  #numbersOf(schemas: readonly StructuralSchema[] | undefined): unknown {
    return schemas === undefined ? null : schemas.map((schema) => this.#numberOf(schema))
  }
}
