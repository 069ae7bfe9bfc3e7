import { createHash } from 'node:crypto'

/** A JSON object of a served document. */
export type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null
const entriesOf = (value: unknown): [string, unknown][] => (isJson(value) ? Object.entries(value) : [])
const itemsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** Short enough for a line; two pieces of a document that differ have different ones. */
const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12)
const linesOf = (lines: readonly string[]) => `${lines.join('\n')}\n`

/** An OpenAPI document with one line per path and per definition: its name, and a hash of its contents. */
export function summarizeOpenApi(document: Json): string {
  const { paths, definitions, components, info: _info, ...rest } = document
  const schemas = definitions ?? (isJson(components) ? components['schemas'] : undefined)
  return linesOf([
    `the rest: ${hashOf(rest)}`,
    ...entriesOf(paths).map(([path, item]) => `${path} [${operationsOf(item)}] ${hashOf(item)}`),
    ...entriesOf(schemas).map(([name, schema]) => `${name} ${hashOf(schema)}`),
  ])
}

function operationsOf(item: unknown): string {
  return entriesOf(item)
    .filter(([key]) => methods.includes(key))
    .map(([method]) => method)
    .join(' ')
}

/** One line for an OpenAPI document among many. */
export function summarizeOpenApiIndex(documents: ReadonlyMap<string, Json>): string {
  return linesOf(
    [...documents].map(([name, document]) => {
      const { paths, components, info: _info } = document
      const schemas = isJson(components) ? components['schemas'] : undefined
      const { info: _omitted, ...hashed } = document
      return `${name} paths=${entriesOf(paths).length} schemas=${entriesOf(schemas).length} ${hashOf(hashed)}`
    }),
  )
}

/** Plain discovery: the group list, then for each group version one line per resource. */
export function summarizeDiscovery({ groups, resourceLists }: { groups: Json; resourceLists: ReadonlyMap<string, Json> }): string {
  return linesOf([
    ...itemsOf(groups['groups']).map(
      (group) =>
        `${group['name']}: ${itemsOf(group['versions']).map((version) => version['groupVersion'])}, preferred ${preferredOf(group)}`,
    ),
    ...[...resourceLists].flatMap(([path, list]) => ['', path, ...itemsOf(list['resources']).map(printFields)]),
  ])
}

const preferredOf = ({ preferredVersion }: Json) => (isJson(preferredVersion) ? preferredVersion['groupVersion'] : undefined)

/** Aggregated discovery: for each group version one line per resource and subresource. */
export function summarizeAggregatedDiscovery(document: Json): string {
  return linesOf(
    itemsOf(document['items']).flatMap(({ metadata, versions }) =>
      itemsOf(versions).flatMap(({ version, freshness, resources }) => [
        `${isJson(metadata) ? (metadata['name'] ?? '') : ''}/${version} ${freshness}`,
        ...itemsOf(resources).flatMap(({ subresources, ...resource }) => [
          printFields(resource),
          ...itemsOf(subresources).map((subresource) => `  ${printFields(subresource)}`),
        ]),
      ]),
    ),
  )
}

/** The fields in the order in which they are served. */
function printFields(object: Json): string {
  return `  ${Object.entries(object)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')}`
}
