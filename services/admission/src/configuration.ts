import { isJsonObject } from '@orch/core/json'
import { domainGroup, type Names } from '@orch/core/names'

/** The entry for one plugin in the admission configuration file. */
export interface PluginConfiguration {
  /** The parsed document as plain data. */
  readonly value: unknown
  /** The path of the file, for messages, and as the base of relative paths in it. */
  readonly file: string
}

/** An error in a plugin's configuration, or in the selection of plugins; the message names the place and the expected value. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

/** The configuration of one plugin in the file: inline, or in a separate file. */
export type ConfiguredPlugin =
  | { readonly kind: 'inline'; readonly name: string; readonly value: unknown }
  | { readonly kind: 'file'; readonly name: string; readonly path: string }

/** Plugins whose configuration may be the whole file, as before AdmissionConfiguration existed. */
const alone: Readonly<Record<string, string>> = {
  imagePolicy: 'ImagePolicyWebhook',
  podNodeSelectorPluginConfig: 'PodNodeSelector',
}

/** The plugins that an admission configuration file names. */
export function parseAdmissionConfiguration(document: unknown, names: Names): readonly ConfiguredPlugin[] {
  if (!isJsonObject(document)) throw new ConfigurationError('expected an AdmissionConfiguration')
  const { apiVersion, kind, plugins, ...rest } = document
  if (apiVersion === undefined && kind === undefined)
    return Object.entries(alone)
      .filter(([field]) => document[field] !== undefined)
      .map(([, name]) => ({ kind: 'inline', name, value: document }))
  const versions = [`${domainGroup(names, 'apiserver.config')}/v1`, `${domainGroup(names, 'apiserver')}/v1alpha1`]
  if (kind !== 'AdmissionConfiguration' || !versions.includes(String(apiVersion))) {
    throw new ConfigurationError(
      `expected kind AdmissionConfiguration of ${versions.join(' or ')}, got ${String(kind)} of ${String(apiVersion)}`,
    )
  }
  refuseUnknown('', rest)
  const entries = plugins ?? []
  if (!Array.isArray(entries)) throw new ConfigurationError('plugins: expected a list')
  const configured = entries.map((entry: unknown, index) => parseEntry(entry, `plugins[${index}]`))
  const again = configured.findIndex(({ name }, index) => configured.slice(0, index).some((earlier) => earlier.name === name))
  if (again !== -1) throw new ConfigurationError(`plugins[${again}].name: there is another entry for ${configured[again]?.name}`)
  return configured
}

function parseEntry(entry: unknown, place: string): ConfiguredPlugin {
  if (!isJsonObject(entry)) throw new ConfigurationError(`${place}: expected name, path and configuration`)
  const { name, path, configuration, ...rest } = entry
  refuseUnknown(`${place}.`, rest)
  if (typeof name !== 'string' || name === '') throw new ConfigurationError(`${place}.name: expected the name of a plugin`)
  if (configuration != null) return { kind: 'inline', name, value: configuration }
  if (path == null || path === '') return { kind: 'inline', name, value: undefined }
  if (typeof path !== 'string') throw new ConfigurationError(`${place}.path: expected the name of a file`)
  return { kind: 'file', name, path }
}

function refuseUnknown(place: string, rest: Readonly<Record<string, unknown>>): void {
  const [field] = Object.keys(rest)
  if (field !== undefined) throw new ConfigurationError(`${place}${field}: there is no such field`)
}

/**
 * A plugin's document: if it has a version, checks its kind against the known ones, such as `{ kind: 'Configuration', apiVersion: 'x.io/v1' }`. Returns
 * the fields except kind and version, and no fields without a document.
 */
export function parseVersioned(
  { value, file }: PluginConfiguration,
  known: readonly { readonly kind: string; readonly apiVersion: string }[],
): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new ConfigurationError(`${file}: expected ${printKnown(known)}`)
  const { kind, apiVersion, ...fields } = value
  if (!known.some((one) => one.kind === kind && one.apiVersion === apiVersion)) {
    throw new ConfigurationError(`${file}: expected ${printKnown(known)}, got ${String(kind)} of ${String(apiVersion)}`)
  }
  return fields
}

function printKnown(known: readonly { readonly kind: string; readonly apiVersion: string }[]): string {
  return known.map(({ kind, apiVersion }) => `${kind} of ${apiVersion}`).join(' or ')
}
