import { type Publication, publishedName, publishListSchema, publishSchemaInSteps } from '../definitions/published-schema.ts'
import type { SchemaProps } from '../definitions/schema-props.ts'
import type { OpenApiSchema } from '../kind/kind-readers.ts'
import type { Catalogue, Gvk } from '../kind/resource.ts'

/** The types of a catalogue without a description, and of their lists, by type name. */
export function customTypesOf({ resources }: Catalogue): Map<string, OpenApiSchema> {
  const types = new Map<string, OpenApiSchema>()
  for (const { type, listKind, readers } of resources) {
    const { openApi } = readers
    if (openApi.kind !== 'schema') continue
    types.set(type, openApi)
    types.set(`${type}List`, {
      kind: 'schema',
      name: `${openApi.name}List`,
      schema: (version, refTo) => openApi.schema(version, refTo, listKind),
    })
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
    *schema(version, refTo, listKind) {
      const { schema, ...published } = read()
      yield
      const publication = { ...published, group: gvk.group, apiVersion: gvk.version, kind: gvk.kind, version, refTo }
      return listKind === undefined ? yield* publishSchemaInSteps(schema, publication) : publishListSchema(listKind, publication)
    },
  }
}
