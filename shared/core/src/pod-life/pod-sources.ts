import { decodeText } from '../json/index.ts'
import { compareQuantities, parseQuantity, type Quantity, roundUpQuantity } from '../meta/quantity.ts'
import type { Pod } from '../workloads/pods.ts'
import type { PodContainer } from './phase.ts'

/** An object from which a Pod takes values. */
export interface SourceRef {
  readonly kind: 'ConfigMap' | 'Secret' | 'ClusterTrustBundle'
  /** Bundles of a signer have the signer and the labels as JSON. */
  readonly name: string
}

/** The values of an object by key. Values of `binaryData` and of Secrets are bytes. */
export type SourceValues = ReadonlyMap<string, string | Uint8Array>

/** Returns an object's values; undefined if it does not exist. */
export type FindSource = (ref: SourceRef) => SourceValues | undefined

/** A volume that cannot be mounted, with the kubelet's message. */
export interface MountProblem {
  readonly volume: string
  readonly message: string
}

type PodVolume = NonNullable<Pod['spec']['volumes']>[number]
export type ProjectedSource = NonNullable<NonNullable<PodVolume['projected']>['sources']>[number]

/** A source of a volume, with the required keys. */
interface MountedSource extends SourceRef {
  readonly isOptional: boolean
  readonly items: readonly { readonly key: string; readonly path: string; readonly mode?: number | null }[]
}

/** The objects of a projection. */
export function mounted({ configMap, secret, clusterTrustBundle: trusted }: ProjectedSource): MountedSource[] {
  const name = trusted?.name ?? JSON.stringify([trusted?.signerName, trusted?.labelSelector ?? null])
  const bundle = trusted && { ...trusted, name, items: [{ key: trustKey, path: trusted.path }] }
  const found = [
    { kind: 'ConfigMap', source: configMap } as const,
    { kind: 'Secret', source: secret } as const,
    { kind: 'ClusterTrustBundle', source: bundle } as const,
  ]
  return found.flatMap(({ kind, source }) =>
    source?.name ? [{ kind, name: source.name, isOptional: source.optional === true, items: source.items ?? [] }] : [],
  )
}

/** The key of the certificates of trust bundles. */
export const trustKey = 'trustBundle'

/** The projections of a volume; a volume of one source is one projection. */
export function projections({ configMap, secret, downwardAPI, projected }: PodVolume): readonly ProjectedSource[] {
  if (projected != null) return projected.sources ?? []
  return [{ configMap, downwardAPI, secret: secret && { ...secret, name: secret.secretName ?? '' } }]
}

/** The sources of a volume. The ConfigMap in the token volume is ignored, because a server without its controller lacks it. */
function mountedBy(volume: PodVolume): MountedSource[] {
  const sources = projections(volume)
  return sources.some(({ serviceAccountToken }) => serviceAccountToken != null) ? [] : sources.flatMap(mounted)
}

export function containersOf({ spec }: Pod): readonly PodContainer[] {
  return [spec.initContainers, spec.containers, spec.ephemeralContainers].flatMap((list) => list ?? [])
}

function namedByContainer({ env, envFrom }: PodContainer): SourceRef[] {
  const all = (envFrom ?? []).map(({ configMapRef, secretRef }) => ({ configMapKeyRef: configMapRef, secretKeyRef: secretRef }))
  return [...all, ...(env ?? []).flatMap(({ valueFrom }) => valueFrom ?? [])].flatMap(({ configMapKeyRef, secretKeyRef }) => [
    ...(configMapKeyRef?.name ? [{ kind: 'ConfigMap', name: configMapKeyRef.name } as const] : []),
    ...(secretKeyRef?.name ? [{ kind: 'Secret', name: secretKeyRef.name } as const] : []),
  ])
}

/** The objects from which a Pod takes values, each once. */
export function sourcesOf(pod: Pod): readonly SourceRef[] {
  const all = [...(pod.spec.volumes ?? []).flatMap(mountedBy), ...containersOf(pod).flatMap(namedByContainer)]
  return [...new Map(all.map(({ kind, name }) => [`${kind}/${name}`, { kind, name }])).values()]
}

/** The volumes of a Pod whose objects or keys are missing. */
export function mountProblems(pod: Pod, find: FindSource): readonly MountProblem[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const problems = mountedBy(volume).flatMap((source) => problemOf(source, find) ?? [])
    if (problems.length === 0) return []
    const text = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
    return [{ volume: volume.name, message: `MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${text}` }]
  })
}

function problemOf({ kind, name, isOptional, items }: MountedSource, find: FindSource): string | undefined {
  const values = find({ kind, name })
  if (values === undefined) return isOptional ? undefined : notFoundText({ kind, name })
  const missing = isOptional ? undefined : items.find(({ key }) => !values.has(key))?.key
  if (missing === undefined) return undefined
  return kind === 'ConfigMap'
    ? `configmap references non-existent config key: ${missing}`
    : `references non-existent secret key: ${missing}`
}

function notFoundText({ kind, name }: SourceRef): string {
  if (name.startsWith('[')) return 'combination of signerName and labelSelector matched zero ClusterTrustBundles'
  return `${kind.toLowerCase()} ${JSON.stringify(name)} not found`
}

/** The inputs of a container's environment. */
export interface EnvironmentInput {
  readonly pod: Pod
  readonly container: string
  readonly hostname: string
  /** Variables about Services, which all others override. */
  readonly links: Readonly<Record<string, string>>
  readonly find: FindSource
  /** The node's resources, which limit a container without limits. */
  readonly allocatable: Readonly<Record<string, string>>
}

export type Environment =
  | { readonly kind: 'environment'; readonly variables: Readonly<Record<string, string>> }
  /** An object or key is missing, in the kubelet's words. */
  | { readonly kind: 'problem'; readonly message: string }

class MissingSourceError extends Error {}

/** The environment of a container as the kubelet builds it: first whole objects, then variables in order (kubelet_pods.go). */
export function environmentOf(input: EnvironmentInput): Environment {
  const { pod, container: name, hostname, links } = input
  const { initContainers, containers, ephemeralContainers } = pod.spec
  const container = [containers, initContainers, ephemeralContainers].flatMap((list) => list?.find((one) => one.name === name) ?? [])[0]
  const variables: Record<string, string> = Object.create(null)
  variables['PATH'] = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  variables['HOSTNAME'] = hostname
  try {
    for (const { prefix, configMapRef, secretRef } of container?.envFrom ?? []) {
      const refs = [{ kind: 'ConfigMap', ref: configMapRef } as const, { kind: 'Secret', ref: secretRef } as const]
      for (const { kind, ref } of refs) {
        if (ref == null) continue
        for (const [key, value] of valuesOf(kind, ref, input) ?? []) variables[`${prefix ?? ''}${key}`] = textOf(value)
      }
    }
    for (const { name: key, value, valueFrom } of container?.env ?? []) {
      const found = value
        ? expandReferences(value, (one) => variables[one] ?? links[one])
        : valueFrom == null
          ? ''
          : sourceValue(valueFrom, container, input)
      if (found !== undefined) variables[key] = found
    }
    for (const mount of container?.volumeMounts ?? []) subPathOf(mount, variables)
  } catch (error) {
    if (error instanceof MissingSourceError) return { kind: 'problem', message: error.message }
    throw error
  }
  return { kind: 'environment', variables: Object.assign(Object.create(null), { HOME: '/root' }, links, variables) }
}

/** The path of a mount in its volume. */
export function subPathOf({ subPath, subPathExpr }: VolumeMount, variables: Readonly<Record<string, string>>): string {
  if (!subPathExpr) return subPath ?? ''
  const missing = new Set<string>()
  const path = expandReferences(subPathExpr, (name) => variables[name] || void missing.add(name))
  if (missing.size > 0) throw new MissingSourceError(`missing value for ${[...missing].sort().join(', ')}`)
  if (path.startsWith('/')) throw new MissingSourceError(`error SubPath \`${path}\` must not be an absolute path`)
  if (path.split('/').includes('..')) throw new MissingSourceError(`unable to provision SubPath \`${path}\`: must not contain '..'`)
  return path
}

type VolumeMount = NonNullable<PodContainer['volumeMounts']>[number]

interface Reference {
  readonly name?: string
  readonly optional?: boolean | null
}

/** Undefined if the object is optional and absent. */
function valuesOf(kind: SourceRef['kind'], { name = '', optional }: Reference, { find }: EnvironmentInput): SourceValues | undefined {
  const values = find({ kind, name })
  if (values === undefined && optional !== true) throw new MissingSourceError(notFoundText({ kind, name }))
  return values
}

type ValueFrom = NonNullable<NonNullable<PodContainer['env']>[number]['valueFrom']>

/** Undefined if the variable is omitted. */
function sourceValue(from: ValueFrom, container: PodContainer | undefined, input: EnvironmentInput): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = from
  if (fieldRef != null) return fieldValue(input.pod, fieldRef.fieldPath)
  if (resourceFieldRef != null) return resourceValue(resourceFieldRef, container, input)
  if (configMapKeyRef != null) return keyValue('ConfigMap', configMapKeyRef, input)
  return secretKeyRef == null ? undefined : keyValue('Secret', secretKeyRef, input)
}

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : decodeText(value)
}

function keyValue(kind: SourceRef['kind'], ref: Reference & { readonly key: string }, input: EnvironmentInput): string | undefined {
  const values = valuesOf(kind, ref, input)
  const value = values?.get(ref.key)
  if (values === undefined || value !== undefined || ref.optional === true) return value && textOf(value)
  throw new MissingSourceError(`couldn't find key ${ref.key} in ${kind} ${input.pod.metadata.namespace}/${ref.name}`)
}

/** Maximum characters that references add to one text: Linux refuses to start a program with a longer argument or variable. */
const expandedMax = 128 * 1024

/** Expands `$(NAME)` to the value of a variable, and `$$` to a dollar sign. Unknown references stay, as do those after too long values. */
export function expandReferences(text: string, lookUp: (name: string) => string | undefined): string {
  let left = expandedMax
  // Behind the last bracket no reference ends, and each would be searched to the end.
  const end = text.lastIndexOf(')') + 1
  const expand = (all: string, name: string | undefined) => {
    if (name === undefined) return '$'
    const value = left > 0 ? lookUp(name) : undefined
    left -= value?.length ?? 0
    return value ?? all
  }
  return text.slice(0, end).replace(/\$\$|\$\(([^)]*)\)/g, expand) + text.slice(end).replaceAll('$$', () => '$')
}

/** The value of a field of a Pod, for a variable or a file. */
export function fieldValue({ metadata, spec, status }: Pod, path: string): string {
  const [, kind, key] = /^metadata\.(labels|annotations)(?:\['(.*)'\])?$/.exec(path) ?? []
  if (kind === 'labels' || kind === 'annotations') return key === undefined ? linesOf(metadata[kind]) : (metadata[kind]?.[key] ?? '')
  const listed = (list: readonly { readonly ip?: string }[] | null | undefined) => list?.map(({ ip }) => ip).join(',')
  const fields: Readonly<Record<string, string | null | undefined>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'spec.nodeName': spec.nodeName,
    'spec.serviceAccountName': spec.serviceAccountName,
    'status.hostIP': status.hostIP,
    'status.hostIPs': listed(status.hostIPs),
    'status.podIP': status.podIP,
    'status.podIPs': listed(status.podIPs),
  }
  return fields[path] ?? ''
}

function linesOf(map: Readonly<Record<string, string>> | null | undefined): string {
  const sorted = Object.entries(map ?? {}).sort(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join('\n')
}

type ResourceRef = NonNullable<ValueFrom['resourceFieldRef']>

/** A request or limit in units of the divisor, rounded up. A missing limit is the node's amount; a missing request is 0. */
export function resourceValue(
  { resource, divisor }: ResourceRef,
  container: PodContainer | undefined,
  { allocatable }: Pick<EnvironmentInput, 'allocatable'>,
): string {
  const [kind, name = ''] = resource.split(/\.(.*)/s)
  const { limits, requests } = container?.resources ?? {}
  const amount = kind === 'limits' ? (limits?.[name] ?? allocatable[name]) : requests?.[name]
  const quantity = parseQuantity(amount ?? '0')
  const unit = parseQuantity(divisor == null ? '0' : String(divisor))
  if (quantity === undefined) return '0'
  const zero: Quantity = { mantissa: 0n, exponent: 0, format: 'DecimalSI' }
  const [value, by] = [
    roundUpQuantity(quantity, -3),
    unit === undefined || compareQuantities(unit, zero) === 0 ? 1000n : roundUpQuantity(unit, -3),
  ]
  return String((value + by - 1n) / by)
}
