import { type Publication, publishedName, publishListSchema, publishSchemaInSteps } from '../definitions/published-schema.ts'
import type { SchemaProps } from '../definitions/schema-props.ts'
import type { OpenApiSchema } from '../kind/kind-readers.ts'
import type { Catalogue, Gvk } from '../kind/resource.ts'

/** The types of a catalogue without a description, and of their lists, by type name. */
export function customTypesOf({ resources }: Catalogue): Map<string, OpenApiSchema> {
  const types = new Map<string, OpenApiSchema>()
  for (const { type, kind, listKind, group, version, readers } of resources) {
    const { openApi } = readers
    if (openApi.kind !== 'schema') continue
    types.set(type, openApi)
    types.set(`${type}List`, customListOpenApi({ group, version, kind }, listKind))
  }
  return types
}

/** Facts about a definition's version that are published. */
export interface PublishedVersion extends Pick<Publication, 'keepsUnknown' | 'selectable' | 'isStructural'> {
  readonly schema: SchemaProps | undefined
}

/** The OpenAPI description of a custom kind. `read` is called per document. */
export function customOpenApi(gvk: Gvk, read: () => PublishedVersion): OpenApiSchema {
  return {
    kind: 'schema',
    name: publishedName(gvk.group, gvk.version, gvk.kind),
    *schema(version, refTo) {
      const { schema, ...published } = read()
      yield
      return yield* publishSchemaInSteps(schema, { ...published, ...placeOf(gvk), version, refTo })
    },
  }
}

function customListOpenApi(gvk: Gvk, listKind: string): OpenApiSchema {
  return {
    kind: 'schema',
    name: `${publishedName(gvk.group, gvk.version, gvk.kind)}List`,
    *schema(version, refTo) {
      yield
      return publishListSchema(listKind, { ...placeOf(gvk), version, refTo })
    },
  }
}

function placeOf({ group, version, kind }: Gvk): Pick<Publication, 'group' | 'apiVersion' | 'kind'> {
  return { group, apiVersion: version, kind }
}
