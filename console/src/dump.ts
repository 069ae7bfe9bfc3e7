import { type ApiObject, withoutSecretValues } from '@orch/core/meta'
import { readYaml } from '@orch/core/yaml'

/** Kinds that a running cluster makes again and again. */
const skippedKinds: ReadonlySet<string> = new Set(['Event', 'Lease', 'Endpoints', 'EndpointSlice', 'APIService', 'ComponentStatus'])

const hasMembers = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

/** The objects of a dump in JSON or YAML, Lists taken apart, a line each: definitions first, without the values of Secrets. */
export function dumpLines(text: string): string[] {
  const objects = documentsOf(text)
    .flatMap(itemsOf)
    .filter(({ kind }) => !skippedKinds.has(kind))
  const isDefinition = ({ kind }: ApiObject) => kind === 'CustomResourceDefinition'
  const ordered = [...objects.filter(isDefinition), ...objects.filter((object) => !isDefinition(object))]
  return ordered.map((object) => JSON.stringify(withoutSecretValues(object)))
}

function documentsOf(text: string): unknown[] {
  if (text.trimStart().startsWith('{')) return [JSON.parse(text)]
  return text
    .split(/^---(?=\s|$)/m)
    .filter((document) => document.trim() !== '')
    .map((document) => readYaml(document))
}

function itemsOf(value: unknown): ApiObject[] {
  if (value === null) return []
  if (!hasMembers(value)) throw new Error('a document is no object')
  const { apiVersion, kind, metadata, items } = value
  if (Array.isArray(items)) return items.flatMap(itemsOf)
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !hasMembers(metadata))
    throw new Error('an object has no apiVersion, kind or metadata')
  return [{ ...value, apiVersion, kind, metadata }]
}
