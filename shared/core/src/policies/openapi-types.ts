import { namesOfProperty } from '@orch/cel/escape'
import { type CelType, listOf, mapOf, objectOf, type TypeProvider, types } from '@orch/cel/types'

/** The used members of an OpenAPI 3 schema. */
export interface OpenApiSchema {
  readonly $ref?: string
  /** A reference with a description or default. */
  readonly allOf?: readonly OpenApiSchema[]
  readonly oneOf?: readonly OpenApiSchema[]
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly additionalProperties?: OpenApiSchema | boolean
  readonly items?: OpenApiSchema
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
}

/** Resolves a `$ref`. */
export type FindSchema = (reference: string) => OpenApiSchema | undefined

/** Maximum depth of schemas; only a schema that contains itself without a property in between exceeds it. */
const depthMax = 100

const text: OpenApiSchema = { type: 'string' }
const nameOnly: OpenApiSchema = { type: 'object', properties: { name: text, generateName: text } }

/** The types of a kind's objects from its OpenAPI schema. A part of unknown type is not accessible. */
export class OpenApiTypes implements TypeProvider {
  /** The type of an object; undefined if the schema has none. */
  readonly root: CelType | undefined
  readonly #find: FindSchema
  readonly #objects = new Map<string, OpenApiSchema>()

  /** `name` is the prefix of all type names: `Deployment.spec`. */
  constructor(schema: OpenApiSchema, name: string, find: FindSchema) {
    this.#find = find
    this.root = this.#declare(schema, { name, isResource: true, depth: 0 })
  }

  findType(): CelType | undefined {
    return undefined
  }

  findField(typeName: string, field: string): CelType | undefined {
    const properties = this.#objects.get(typeName)?.properties ?? {}
    const property = Object.keys(properties).find((name) => namesOfProperty(name).includes(field))
    const schema = property === undefined ? undefined : properties[property]
    return schema && this.#declare(schema, { name: `${typeName}.${property}`, isResource: isEmbedded(schema), depth: 0 })
  }

  #declare(given: OpenApiSchema, { name, isResource, depth }: Place): CelType | undefined {
    const found = this.#resolve(given)
    if (found === undefined || depth > depthMax) return undefined
    if (found.format === 'int-or-string' || found['x-kubernetes-int-or-string'] === true) return types.dyn
    const schema = isResource ? this.#withObjectMembers(found) : found
    const part = (inner: OpenApiSchema, step: string) =>
      this.#declare(inner, { name: `${name}.${step}`, isResource: isEmbedded(inner), depth: depth + 1 })
    switch (schema.type ?? typeOfAmount(schema)) {
      case 'array': {
        const items = schema.items && part(schema.items, '@idx')
        return items && listOf(items)
      }
      case 'object': {
        if (typeof schema.additionalProperties === 'object') {
          const values = part(schema.additionalProperties, '@elem')
          return values && mapOf(types.string, values)
        }
        this.#objects.set(name, schema)
        return objectOf(name)
      }
      case 'string':
        return textTypes.get(schema.format) ?? types.string
      case 'boolean':
        return types.bool
      case 'number':
        return types.double
      case 'integer':
        return types.int
      default:
        return undefined
    }
  }

  #resolve(schema: OpenApiSchema): OpenApiSchema | undefined {
    let at: OpenApiSchema | undefined = schema
    for (let step = 0; at !== undefined && step < depthMax; step++) {
      const reference: string | undefined = at.$ref ?? (at.allOf?.length === 1 ? at.allOf[0]?.$ref : undefined)
      if (reference === undefined) return at
      at = this.#find(reference)
    }
    return undefined
  }

  /** Adds the members that every resource has, whatever the schema: version, kind and metadata with a name. */
  #withObjectMembers(schema: OpenApiSchema): OpenApiSchema {
    const { properties = {} } = schema
    const metadata = properties['metadata'] && this.#resolve(properties['metadata'])
    const isText = (part: OpenApiSchema | undefined) => part?.type === 'string'
    const isWhole = isText(metadata?.properties?.['name']) && isText(metadata?.properties?.['generateName'])
    return {
      ...schema,
      properties: { ...properties, kind: text, apiVersion: text, metadata: isWhole && metadata !== undefined ? metadata : nameOnly },
    }
  }
}

interface Place {
  readonly name: string
  readonly isResource: boolean
  readonly depth: number
}

function isEmbedded(schema: OpenApiSchema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true
}

/** The type of a quantity: for clients a text or number, for expressions a text. */
function typeOfAmount({ oneOf = [] }: OpenApiSchema): string | undefined {
  return oneOf.length === 2 && oneOf[0]?.type === 'string' && oneOf[1]?.type === 'number' ? 'string' : undefined
}

/** The types of texts with a format. */
const textTypes = new Map<string | undefined, CelType>([
  ['byte', types.bytes],
  ['duration', types.duration],
  ['date', types.timestamp],
  ['date-time', types.timestamp],
])
