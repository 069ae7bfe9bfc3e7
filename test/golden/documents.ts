import { createHash } from 'node:crypto'

/** A JSON object in a served document. */
export type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null
const entriesOf = (value: unknown): [string, unknown][] => (isJson(value) ? Object.entries(value) : [])
const itemsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** A hash that is short enough for a line and differs between different pieces of a document. */
const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12)
const linesOf = (lines: readonly string[]) => `${lines.join('\n')}\n`

/** Summarizes an OpenAPI document: one line per path and per definition, with the name and a hash of the contents. */
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

/** Summarizes an OpenAPI document in one line. */
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

/** Summarizes plain discovery: the group list, then one line per resource of each group version. */
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

/** Summarizes aggregated discovery: one line per resource and subresource of each group version. */
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

/** The fields in the order in which the server sends them. */
function printFields(object: Json): string {
  return `  ${Object.entries(object)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')}`
}
