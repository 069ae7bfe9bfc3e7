import { type Catalogue, type Resource, staticNameGate, staticNameSuffix } from '@orch/core/catalogue'
import { compareTexts, isJsonObject, printBare } from '@orch/core/json'
import { type ApiObject, parseApiVersion } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { fieldProblems } from '@orch/core/schema'
import { runAtOnce } from '@orch/core/steps'
import { itemsOf, partOf, validateObjectMeta } from '@orch/core/validation'
import { readYaml, yamlDocuments } from '@orch/core/yaml'
import { messageOf, TurnBudget } from '@orch/platform'
import { ConfigurationError } from '../configuration.ts'

/** The kinds of the objects in a plugin's manifests. */
const kindsOf = {
  MutatingAdmissionPolicy: ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'],
  MutatingAdmissionWebhook: ['MutatingWebhookConfiguration'],
  ValidatingAdmissionPolicy: ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  ValidatingAdmissionWebhook: ['ValidatingWebhookConfiguration'],
} as const

/** A plugin that takes objects from manifests. */
export type ManifestPlugin = keyof typeof kindsOf

/** Plugins that take objects from manifests. */
export const manifestPlugins = Object.keys(kindsOf) as readonly ManifestPlugin[]

export interface ManifestFile {
  readonly path: string
  readonly text: string
}

interface Fields {
  readonly [name: string]: unknown
}

/** Characters of manifests that are parsed in one turn of the event loop, about 10 ms. */
const charactersPerTurn = 10_000

/** The objects of a plugin's manifests, with defaults and by name. Rejects with a ConfigurationError that names the file, or objects that do not fit together. */
export async function readManifests(
  files: readonly ManifestFile[],
  plugin: ManifestPlugin,
  catalogue: Catalogue,
): Promise<readonly ApiObject[]> {
  const budget = new TurnBudget(charactersPerTurn)
  const objects: ApiObject[] = []
  for (const { path, text } of files) {
    try {
      for (const { source } of yamlDocuments(text)) {
        const manifests = manifestsIn(readYaml(source, { isStrict: true }), plugin, catalogue)
        for (const { fields, resource } of manifests) {
          await budget.take(source.length / manifests.length)
          objects.push(objectOf(fields, resource, catalogue))
        }
      }
    } catch (error) {
      throw new ConfigurationError(`${path}: ${messageOf(error)}`, { cause: error })
    }
  }
  const names = new Set<string>()
  for (const { kind, metadata } of objects) {
    if (names.has(printName(kind, metadata.name))) throw new ConfigurationError(`there is another ${printName(kind, metadata.name)}`)
    names.add(printName(kind, metadata.name))
  }
  refuseUnbound(objects, names)
  return objects.toSorted((left, right) => compareTexts(left.metadata.name ?? '', right.metadata.name ?? ''))
}

function printName(kind: string, name: unknown): string {
  return `${kind} named ${JSON.stringify(name ?? '')}`
}

interface Manifest {
  readonly fields: Fields
  readonly resource: Resource
}

/** The manifests of a document, which may be a list. */
function manifestsIn(value: unknown, plugin: ManifestPlugin, catalogue: Catalogue): Manifest[] {
  if (!isJsonObject(value)) throw new ConfigurationError('expected an object')
  const { apiVersion, kind, items } = value
  const expected: readonly string[] = kindsOf[plugin]
  const group = `${domainGroup(catalogue.names, 'admissionregistration')}/v1`
  const isList = apiVersion === 'v1' && kind === 'List'
  const ofList = apiVersion === group ? expected.find((name) => kind === `${name}List`) : undefined
  if (isList || ofList !== undefined) {
    if (items != null && !Array.isArray(items)) throw new ConfigurationError('items: expected a list')
    const typed = (item: unknown) => (ofList !== undefined && isJsonObject(item) ? { ...item, apiVersion: group, kind: ofList } : item)
    return (items ?? []).flatMap((item: unknown) => manifestsIn(typed(item), plugin, catalogue))
  }
  if (apiVersion !== group || typeof kind !== 'string' || !expected.includes(kind)) {
    throw new ConfigurationError(`expected ${expected.join(' or ')} of ${group}, got ${printBare(kind)} of ${printBare(apiVersion)}`)
  }
  const resource = catalogue.findKind({ ...parseApiVersion(group)!, kind })
  if (resource === undefined) throw new ConfigurationError(`${group} has no ${kind} at this level`)
  return [{ fields: value, resource }]
}

function objectOf(fields: Fields, { readers, kind }: Resource, { names, isGateOn, level }: Catalogue): ApiObject {
  const decoded = readers.decode(fields, { trackUnknown: true })
  if (decoded.kind === 'mismatch') throw new ConfigurationError(decoded.text)
  const [unknown] = fieldProblems({ unknown: decoded.unknownFields, duplicates: [] })
  if (unknown !== undefined) throw new ConfigurationError(unknown)
  const { object } = decoded
  const named = `${kind} ${JSON.stringify(object.metadata.name ?? '')}`
  const suffix = staticNameSuffix(names)
  if (object.metadata.name?.endsWith(suffix) !== true) throw new ConfigurationError(`${named}: expected a name that ends with ${suffix}`)
  readers.applyDefaults?.(object, names, isGateOn)
  // The gate reserves the names of manifests, which clients cannot use then.
  const isOn = (gate: string) => gate !== staticNameGate && isGateOn(gate)
  const faults = [
    ...validateObjectMeta(object.metadata, { isNamespaced: false, nameKind: 'subdomain', bareFinalizers: [], level }),
    ...runAtOnce(readers.validate({ body: fields, object, part: 'main', names, isGateOn: isOn, level })),
  ]
  const texts = [...faults.map(({ field, message }) => `${field}: ${message}`), ...unsupportedIn(object)]
  if (texts.length > 0) throw new ConfigurationError(`${named}: ${texts.join(', ')}`)
  return object
}

/** The parts of an object that would need objects of the store, which may not exist yet. */
function unsupportedIn(object: ApiObject): string[] {
  const spec = partOf(object, 'spec')
  const refused = (place: string) => `${place}: Forbidden: not supported in manifests`
  return [
    ...(spec['paramKind'] == null ? [] : [refused('spec.paramKind')]),
    ...(spec['paramRef'] == null ? [] : [refused('spec.paramRef')]),
    ...itemsOf(object, 'webhooks').flatMap((webhook, index) =>
      partOf(webhook, 'clientConfig')['service'] == null ? [] : [`${refused(`webhooks[${index}].clientConfig.service`)}; use url`],
    ),
  ]
}

/** A binding needs its policy in the same folder. */
function refuseUnbound(objects: readonly ApiObject[], names: ReadonlySet<string>): void {
  for (const object of objects) {
    const { kind, metadata } = object
    if (!kind.endsWith('Binding')) continue
    const { policyName } = partOf(object, 'spec')
    if (names.has(printName(kind.slice(0, -'Binding'.length), policyName))) continue
    throw new ConfigurationError(
      `${kind} ${JSON.stringify(metadata.name)}: spec.policyName: there is no policy ${JSON.stringify(policyName)} among the manifests`,
    )
  }
}
