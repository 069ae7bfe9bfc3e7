import { escapeProperty } from '@orch/cel/escape'
import type { Bounds } from '@orch/cel/library'
import { memo } from '@orch/cel/memo'
import { type CelType, listOf, mapOf, objectOf, type TypeProvider, types } from '@orch/cel/types'
import type { StructuralSchema } from '../schema.ts'
import { dateTimeSize, durationSize, jsonDateSize, maxItemsWithin, maxPropertiesWithin, minSizes, unboundedText } from './sizes.ts'

/**
 * A schema as expressions see it: its type, and the maximum size of its values. Parts are created on demand.
 * A part of unknown type is not accessible.
 */
export class Declared {
  readonly schema: StructuralSchema
  readonly type: CelType
  /** The maximum number of items, entries or bytes of a value; undefined for values without a size. */
  readonly sizeMax: bigint | undefined
  /** The size in bytes of the smallest JSON value. */
  readonly minSize: bigint
  readonly #parts: Parts

  constructor(schema: StructuralSchema, declared: Omit<Declared, 'schema' | 'field' | 'fields' | 'items' | 'values'>, parts: Parts = {}) {
    this.schema = schema
    this.type = declared.type
    this.sizeMax = declared.sizeMax
    this.minSize = declared.minSize
    this.#parts = parts
  }

  /** The field of an object by its name in expressions. */
  field(escaped: string): Declared | undefined {
    return this.#parts.fields?.get(escaped)?.declared
  }

  /** The fields of an object by their names in expressions. */
  get fields(): ReadonlyMap<string, DeclaredField> | undefined {
    return this.#parts.fields
  }

  get items(): Declared | undefined {
    return this.#parts.items
  }

  get values(): Declared | undefined {
    return this.#parts.values
  }
}

/** A field of an object. */
export interface DeclaredField {
  readonly property: string
  readonly declared: Declared
}

interface Parts {
  readonly fields?: ReadonlyMap<string, DeclaredField>
  readonly items?: Declared
  readonly values?: Declared
}

/** The object types for one rule's `self`, by name. */
export class DeclaredTypes implements TypeProvider {
  readonly self: Declared | undefined
  readonly #byName = new Map<string, Declared>()

  /** With `isResource`, values have `apiVersion`, `kind` and a name, whatever the schema. */
  constructor(schema: StructuralSchema, { isResource }: { readonly isResource: boolean }) {
    this.self = this.#declare(schema, 'object', isResource)
  }

  findType(): CelType | undefined {
    return undefined
  }

  findField(typeName: string, field: string): CelType | undefined {
    return this.#byName.get(typeName)?.field(field)?.type
  }

  /** The size bounds of the value at a path from a variable; undefined if unknown. */
  sizeAt([, ...steps]: readonly string[]): Bounds | undefined {
    let at = this.self
    for (const [index, step] of steps.entries()) {
      if (step === '@keys') return at?.values === undefined || index < steps.length - 1 ? undefined : keySize
      at = step === '@items' || step === '@values' ? (at?.items ?? at?.values) : at?.field(step)
    }
    return at === undefined ? undefined : { min: 0n, max: at.sizeMax ?? 0n }
  }

  #declare(given: StructuralSchema, name: string, isResource: boolean): Declared | undefined {
    if (given.isIntOrString === true) return declareIntOrText(given)
    const schema = isResource ? withObjectMembers(given) : given
    switch (schema.type) {
      case 'array':
        return this.#declareList(schema, name)
      case 'object':
        return typeof schema.additionalProperties === 'object'
          ? this.#declareMap(schema, schema.additionalProperties, name)
          : this.#declareObject(schema, name)
      case 'string':
        return declareText(schema)
      case 'boolean':
        return new Declared(schema, { type: types.bool, sizeMax: undefined, minSize: minSizes.boolean })
      case 'number':
        return new Declared(schema, { type: types.double, sizeMax: undefined, minSize: minSizes.number })
      case 'integer':
        return new Declared(schema, { type: types.int, sizeMax: undefined, minSize: minSizes.number })
      case undefined:
        return undefined
    }
  }

  #declareList(schema: StructuralSchema, name: string): Declared | undefined {
    if (schema.items === undefined) return undefined
    const items = this.#declare(schema.items, `${name}.@idx`, schema.items.isEmbeddedResource === true)
    if (items === undefined) return undefined
    const sizeMax = bounded(schema.values?.maxItems) ?? maxItemsWithin(items.minSize)
    return new Declared(schema, { type: listOf(items.type), sizeMax, minSize: minSizes.container }, { items })
  }

  #declareMap(schema: StructuralSchema, valueSchema: StructuralSchema, name: string): Declared | undefined {
    const values = this.#declare(valueSchema, `${name}.@elem`, valueSchema.isEmbeddedResource === true)
    if (values === undefined) return undefined
    const sizeMax = bounded(schema.values?.maxProperties) ?? maxPropertiesWithin(values.minSize)
    return new Declared(schema, { type: mapOf(types.string, values.type), sizeMax, minSize: minSizes.container }, { values })
  }

  #declareObject(schema: StructuralSchema, name: string): Declared {
    const required = new Set(schema.values?.required)
    const fields = new Map<string, DeclaredField>()
    let minSize = minSizes.container
    for (const [property, propertySchema] of schema.properties ?? []) {
      const declared = this.#declare(propertySchema, `${name}.${property}`, propertySchema.isEmbeddedResource === true)
      if (declared === undefined) continue
      const escaped = escapeProperty(property)
      if (escaped !== undefined) fields.set(escaped, { property, declared })
      // Reserved words that the language does not use can also be used unescaped.
      if (escaped === `__${property}__` && !literals.has(property)) fields.set(property, { property, declared })
      if (required.has(property) && propertySchema.default === undefined) minSize += BigInt(property.length) + declared.minSize + 4n
    }
    const object = new Declared(schema, { type: objectOf(name), sizeMax: undefined, minSize }, { fields })
    this.#byName.set(name, object)
    return object
  }
}

/** Like kube-apiserver, counts the length of a key as zero. */
const keySize: Bounds = { min: 0n, max: 0n }

/** Words that are values or operators in any position. */
const literals: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in'])

function bounded(max: number | undefined): bigint | undefined {
  return max === undefined ? undefined : BigInt(Math.max(0, Math.trunc(max)))
}

function declareIntOrText(schema: StructuralSchema): Declared {
  const limit = bounded(schema.values?.maxLength)
  return new Declared(schema, { type: types.dyn, sizeMax: limit === undefined ? unboundedText : limit * 4n, minSize: minSizes.number })
}

function declareText(schema: StructuralSchema): Declared {
  const { format, maxLength, enum: listed = [] } = schema.values ?? {}
  switch (format) {
    case 'byte':
      return new Declared(schema, { type: types.bytes, sizeMax: bounded(maxLength) ?? unboundedText, minSize: minSizes.text })
    case 'duration':
      return new Declared(schema, { type: types.duration, sizeMax: durationSize, minSize: minSizes.duration })
    case 'date':
      return new Declared(schema, { type: types.timestamp, sizeMax: jsonDateSize, minSize: jsonDateSize })
    case 'date-time':
      return new Declared(schema, { type: types.timestamp, sizeMax: dateTimeSize, minSize: minSizes.dateTime })
    default: {
      const longest = listed.length > 0 ? longestOf(listed) : unboundedText
      const limit = bounded(maxLength)
      return new Declared(schema, { type: types.string, sizeMax: limit === undefined ? longest : limit * 4n, minSize: minSizes.text })
    }
  }
}

function longestOf(values: readonly unknown[]): bigint {
  return BigInt(Math.max(...values.map((value) => (typeof value === 'string' ? new TextEncoder().encode(value).length : 0))))
}

const text: StructuralSchema = { type: 'string' }
/** Names of objects have at most 253 characters, even without a schema. */
const name: StructuralSchema = { type: 'string', values: { maxLength: 253 } }
const metadata: StructuralSchema = {
  type: 'object',
  properties: new Map([
    ['generateName', name],
    ['name', name],
  ]),
}

/** The schema of an object, with the members that its rules may use: `apiVersion`, `kind` and `metadata.name`. */
const withObjectMembers: (schema: StructuralSchema) => StructuralSchema = memo((schema) => {
  if (hasMembers(schema)) return schema
  const properties = new Map([...(schema.properties ?? []), ['apiVersion', text], ['kind', text], ['metadata', metadata]] as const)
  return { ...schema, type: 'object', properties }
})

/** True if a schema declares all these members. */
function hasMembers({ properties }: StructuralSchema): boolean {
  const given = properties?.get('metadata')
  const isText = (part: StructuralSchema | undefined): boolean => part?.type === 'string'
  if (!isText(properties?.get('apiVersion')) || !isText(properties?.get('kind')) || given?.type !== 'object') return false
  return isText(given.properties?.get('name')) && isText(given.properties?.get('generateName'))
}
