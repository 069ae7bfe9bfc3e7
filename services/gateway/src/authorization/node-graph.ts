/** The links of one stored object on the path from nodes to objects: `from` needs each of `to`. */
export interface Links {
  readonly links: readonly Link[]
}

interface Link {
  /** `node/NAME` or `persistentvolumeclaims/NAMESPACE/NAME`. */
  readonly from: string
  /** `secrets/NAMESPACE/NAME` */
  readonly to: string
}

/**
 * The needs of objects, so that a node may read the objects of its pods.
 *
 *   pod on n1 with claim c, bound to volume v with secret s:   n1 → c, c → v, c → s     so n1 reaches c, v and s
 */
export class NodeGraph {
  /** By object: the objects that need it, with the number of reasons. */
  readonly #needers = new Map<string, Map<string, number>>()

  replace(before: Links | undefined, after: Links | undefined): void {
    for (const { from, to } of after?.links ?? []) this.#count(from, to, 1)
    for (const { from, to } of before?.links ?? []) this.#count(from, to, -1)
  }

  /** True if a node needs an object, directly or through others, over two links at most. */
  isReached(node: string, thing: string): boolean {
    const start = `node/${node}`
    const needers = this.#needers.get(thing)
    if (needers === undefined) return false
    if (needers.has(start)) return true
    for (const between of needers.keys()) if (this.#needers.get(between)?.has(start) === true) return true
    return false
  }

  #count(from: string, to: string, by: number): void {
    const needers = this.#needers.get(to) ?? new Map<string, number>()
    this.#needers.set(to, needers)
    const count = (needers.get(from) ?? 0) + by
    if (count > 0) needers.set(from, count)
    else needers.delete(from)
    if (needers.size === 0) this.#needers.delete(to)
  }
}

/** The links from a pod's node to the objects of the pod. */
export function linksOfPod(value: Uint8Array): Links {
  const { metadata, spec, status } = parseStored('core/v1.Pod', value)
  if (!spec.nodeName) return { links: [] }
  const from = `node/${spec.nodeName}`
  const at = (kind: string, name: string | undefined) => (name ? [{ from, to: `${kind}/${metadata.namespace}/${name}` }] : [])
  const own = at('pods', metadata.name)
  // A node may read no other objects of its mirror pods, because it could put any name into them.
  if (Object.keys(metadata.annotations ?? {}).some((key) => key.endsWith('/config.mirror'))) return { links: own }
  const links = [
    ...own,
    ...at('serviceaccounts', spec.serviceAccountName),
    ...(spec.imagePullSecrets ?? []).flatMap(({ name }) => at('secrets', name)),
    ...[...(spec.containers ?? []), ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].flatMap((container) =>
      namesInContainer(container).flatMap(({ kind, name }) => at(kind, name)),
    ),
    ...(spec.resourceClaims ?? []).flatMap(({ resourceClaimName }) => at('resourceclaims', resourceClaimName ?? undefined)),
    ...(status?.resourceClaimStatuses ?? []).flatMap(({ resourceClaimName }) => at('resourceclaims', resourceClaimName ?? undefined)),
    ...at('resourceclaims', status?.extendedResourceClaimStatus?.resourceClaimName),
    ...(spec.volumes ?? []).flatMap((volume) => namesInVolume(volume, metadata.name ?? '').flatMap(({ kind, name }) => at(kind, name))),
  ]
  return { links }
}

/** The links from a volume's claim: the volume itself, and its secrets. */
export function linksOfClaimVolume(value: Uint8Array): Links {
  const { metadata, spec } = parseStored('core/v1.PersistentVolume', value)
  const { claimRef } = spec
  if (!claimRef?.name) return { links: [] }
  const from = `persistentvolumeclaims/${claimRef.namespace}/${claimRef.name}`
  const secrets = secretReferencesIn(spec, claimRef.namespace ?? '')
  return { links: [{ from, to: `persistentvolumes//${metadata.name}` }, ...secrets.map((to) => ({ from, to }))] }
}

/** An attachment belongs to the node that it is made for. */
export function nodeOfAttachment(value: Uint8Array): Links {
  const { metadata, spec } = parseStored('storage/v1.VolumeAttachment', value)
  return { links: spec.nodeName ? [{ from: `node/${spec.nodeName}`, to: `volumeattachments//${metadata.name}` }] : [] }
}

/** A slice describes the devices of one node, or of several, which then do not own it. */
export function nodeOfSlice(value: Uint8Array): Links {
  const { metadata, spec } = parseStored('resource/v1.ResourceSlice', value)
  return { links: spec.nodeName ? [{ from: `node/${spec.nodeName}`, to: `resourceslices//${metadata.name}` }] : [] }
}

/** A PodCertificateRequest belongs to the node of its Pod. */
export function nodeOfCertificateRequest(value: Uint8Array): Links {
  const { metadata, spec } = parseStored('certificates/v1beta1.PodCertificateRequest', value)
  const to = `podcertificaterequests/${metadata.namespace}/${metadata.name}`
  return { links: [{ from: `node/${spec.nodeName}`, to }] }
}

interface KindAndName {
  readonly kind: string
  readonly name: string | undefined
}

function namesInContainer({ env = [], envFrom = [] }: Pick<BuiltIn<'core/v1.Container'>, 'env' | 'envFrom'>): KindAndName[] {
  return [
    ...env.flatMap(({ valueFrom }) => [secret(valueFrom?.secretKeyRef?.name), configMap(valueFrom?.configMapKeyRef?.name)]),
    ...envFrom.flatMap(({ secretRef, configMapRef }) => [secret(secretRef?.name), configMap(configMapRef?.name)]),
  ]
}

function namesInVolume(volume: BuiltIn<'core/v1.Volume'>, podName: string): KindAndName[] {
  const claim = (name: string | undefined) => ({ kind: 'persistentvolumeclaims', name })
  return [
    secret(volume.secret?.secretName),
    secret(volume.azureFile?.secretName),
    configMap(volume.configMap?.name),
    claim(volume.persistentVolumeClaim?.claimName),
    claim(volume.ephemeral === undefined ? undefined : `${podName}-${volume.name}`),
    ...(volume.projected?.sources ?? []).flatMap((source) => [secret(source.secret?.name), configMap(source.configMap?.name)]),
    ...Object.values(volume).flatMap((plugin) => pluginSecrets(plugin).map(({ name }) => secret(name))),
  ]
}

const secret = (name: string | undefined): KindAndName => ({ kind: 'secrets', name })
const configMap = (name: string | undefined): KindAndName => ({ kind: 'configmaps', name })

const secretFields = [
  'secretRef',
  'controllerPublishSecretRef',
  'nodeStageSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
  'controllerExpandSecretRef',
] as const

/** The references to secrets in any kind of volume. */
function pluginSecrets(plugin: unknown): { readonly name: string | undefined; readonly namespace: string | undefined }[] {
  if (!hasMembers(plugin)) return []
  return secretFields.flatMap((field) => {
    const reference = plugin[field]
    return hasMembers(reference) ? [{ name: textIn(reference, 'name'), namespace: textIn(reference, 'namespace') }] : []
  })
}

function textIn(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const text = object[name]
  return typeof text === 'string' ? text : undefined
}

function secretReferencesIn(spec: BuiltIn<'core/v1.PersistentVolumeSpec'>, claimNamespace: string): string[] {
  const references = Object.values(spec).flatMap(pluginSecrets)
  const azure = spec.azureFile
  if (azure?.secretName) references.push({ name: azure.secretName, namespace: azure.secretNamespace ?? undefined })
  return references.flatMap(({ name, namespace }) => (name ? [`secrets/${namespace || claimNamespace}/${name}`] : []))
}

import { hasMembers } from '@orch/core/json'
import { type BuiltIn, parseStored } from '@orch/core/schema'
