import { jsonEqual } from '../../json/equal.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import { isReadyPod, type Pod } from '../pods.ts'
import { addressesOf, type Family, hostnameOf, isEndpointPod, portAt, type Service } from './endpoint-pods.ts'
import { type Hash, sortedByHash } from './subsets.ts'

export type EndpointSlice = BuiltIn<'discovery/v1.EndpointSlice'>
export type Endpoint = BuiltIn<'discovery/v1.Endpoint'>
type EndpointPort = BuiltIn<'discovery/v1.EndpointPort'>

/** A slice to create or update. */
export interface SliceDraft {
  /** Undefined for a new slice. */
  readonly existing?: EndpointSlice
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

/** Endpoints with the same set of ports. */
export interface PortGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

export interface SlicesPlan {
  readonly created: readonly SliceDraft[]
  readonly updated: readonly SliceDraft[]
  readonly deleted: readonly EndpointSlice[]
}

/** Facts about a Pod's node that its endpoint contains. */
interface NodeFacts {
  /** Undefined if the node does not exist. */
  readonly zone?: string | undefined
}

/** A Pod's endpoint in one family; undefined if it has no address in that family. */
function endpointOf(pod: Pod, service: Service, { family, zone }: { family: Family; zone: string | undefined }): Endpoint | undefined {
  const addresses = addressesOf(pod, family)
  if (addresses.length === 0) return undefined
  const terminating = pod.metadata.deletionTimestamp != null
  const serving = isReadyPod(pod)
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating)
  const hostname = hostnameOf(pod, service)
  const { name, namespace, uid } = pod.metadata
  const { nodeName } = pod.spec
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName && { nodeName }),
    ...(zone && { zone }),
  }
}

function portsOf(service: Service, pod: Pod, level: number): EndpointPort[] {
  return (service.spec.ports ?? []).flatMap((servicePort) => {
    const port = portAt(pod, servicePort, level)
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return port === undefined ? [] : [{ name, port, protocol, ...(appProtocol != null && { appProtocol }) }]
  })
}

/** Endpoints grouped by ports. `factsOf` returns undefined for a Pod that is skipped. */
export function groupByPorts(
  service: Service,
  pods: readonly Pod[],
  { family, level, hash, factsOf }: { family: Family; level: number; hash: Hash; factsOf: (pod: Pod) => NodeFacts | undefined },
): PortGroup[] {
  const groups = new Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>()
  for (const pod of pods.filter((one) => isEndpointPod(one, true))) {
    const ports = inHashOrder(portsOf(service, pod, level), hash)
    const key = portsKey(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    groups.set(key, group)
    const facts = factsOf(pod)
    const endpoint = facts && endpointOf(pod, service, { family, zone: facts.zone })
    if (endpoint !== undefined) group.endpoints.push(endpoint)
  }
  return [...groups.values()]
}

/** Ports in the order of kube-controller-manager. */
export function inHashOrder(ports: readonly EndpointPort[], hash: Hash): EndpointPort[] {
  return sortedByHash(ports, hash, ({ name, protocol, port, appProtocol }) => {
    const first = `Name:(*string)${name} Protocol:(*v1.Protocol)${protocol}`
    return `(v1.EndpointPort){${first} Port:(*int32)${port} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
  })
}

/** A key that is equal for equal sets of ports. */
export function portsKey(ports: readonly EndpointPort[] | null | undefined): string {
  return (ports ?? [])
    .map(({ name = '', port, protocol = 'TCP', appProtocol }) => `${name} ${port ?? ''} ${protocol} ${appProtocol ?? ''}`)
    .sort()
    .join()
}

interface Packing {
  readonly existing: readonly EndpointSlice[]
  readonly groups: readonly PortGroup[]
  readonly endpointsMax: number
  /** False if no empty slice is kept. Default: one is kept. */
  readonly hasPlaceholder?: boolean
  /** True if the labels of a slice differ from those that its owner implies. */
  hasOldLabels(slice: EndpointSlice): boolean
}

/**
 * The writes that bring the slices of one family to the desired endpoints, as few as possible: new endpoints first fill slices that
 * are written anyway, then the fullest slice with enough space for all others, and then new slices. Slices are not merged. A slice to
 * delete is reused for a new one. Without endpoints, one empty slice is kept.
 *
 *   max 10, slices of 10, 10, 5, two new endpoints    one update: 10, 10, 7
 *   the same with ten more                            one creation and one update
 */
export function packSlices({ existing, groups, endpointsMax, hasOldLabels, hasPlaceholder = true }: Packing): SlicesPlan {
  const created: SliceDraft[] = []
  const updated: SliceDraft[] = []
  const deleted: EndpointSlice[] = []
  const wanted = new Set(groups.map(({ ports }) => portsKey(ports)))
  for (const group of groups) {
    const ofPorts = existing.filter((slice) => portsKey(slice.ports) === portsKey(group.ports))
    const plan = packGroup(group, { existing: ofPorts, endpointsMax, hasOldLabels })
    created.push(...plan.created)
    updated.push(...plan.updated)
    deleted.push(...plan.deleted)
  }
  deleted.push(...existing.filter((slice) => !wanted.has(portsKey(slice.ports))))
  if (hasPlaceholder && existing.length === deleted.length && created.length === 0) {
    const [only] = deleted
    const isPlaceholder =
      deleted.length === 1 &&
      only !== undefined &&
      (only.endpoints ?? []).length === 0 &&
      portsKey(only.ports) === '' &&
      !hasOldLabels(only)
    if (isPlaceholder) return { created, updated, deleted: [] }
    created.push({ ports: [], endpoints: [] })
  }
  return reuse({ created, updated, deleted })
}

/** Turns pairs of a deletion and a creation into updates. */
function reuse({ created, updated, deleted }: SlicesPlan): SlicesPlan {
  const count = Math.min(created.length, deleted.length)
  const reused = created.slice(created.length - count).reverse()
  const drafts = deleted.slice(0, count).map((existing, index) => ({ ports: [], endpoints: [], ...reused[index], existing }))
  return { created: created.slice(0, created.length - count), updated: [...updated, ...drafts], deleted: deleted.slice(count) }
}

function packGroup({ ports, endpoints }: PortGroup, { existing, endpointsMax, hasOldLabels }: Omit<Packing, 'groups'>): SlicesPlan {
  const left = new Map(endpoints.map((endpoint) => [idOf(endpoint), endpoint]))
  const unchanged: EndpointSlice[] = []
  const updated: { existing: EndpointSlice; ports: readonly EndpointPort[]; endpoints: Endpoint[] }[] = []
  const deleted: EndpointSlice[] = []
  for (const slice of existing) {
    const stored = slice.endpoints ?? []
    const kept: Endpoint[] = []
    let hasChanged = false
    for (const endpoint of stored) {
      const next = left.get(idOf(endpoint))
      if (next === undefined) continue
      left.delete(idOf(endpoint))
      if (!isSameEndpoint(next, endpoint)) hasChanged = true
      kept.push(next)
    }
    const isShorter = kept.length < stored.length
    if (isShorter && kept.length === 0) deleted.push(slice)
    else if (hasChanged || isShorter || hasOldLabels(slice)) updated.push({ existing: slice, ports, endpoints: kept })
    else unchanged.push(slice)
  }
  const rest = [...left.values()]
  for (const draft of updated.toSorted((one, other) => other.endpoints.length - one.endpoints.length)) {
    draft.endpoints.push(...rest.splice(0, Math.max(0, endpointsMax - draft.endpoints.length)))
  }
  const created: SliceDraft[] = []
  while (rest.length > 0) {
    const target = rest.length < endpointsMax ? fullestWithRoom(unchanged, rest.length, endpointsMax) : undefined
    if (target === undefined) created.push({ ports, endpoints: rest.splice(0, endpointsMax) })
    else updated.push({ existing: target, ports, endpoints: [...(target.endpoints ?? []), ...rest.splice(0)] })
  }
  return { created, updated, deleted }
}

function fullestWithRoom(slices: readonly EndpointSlice[], count: number, max: number): EndpointSlice | undefined {
  const lengthOf = ({ endpoints }: EndpointSlice) => endpoints?.length ?? 0
  const fitting = slices.filter((slice) => lengthOf(slice) + count <= max)
  return fitting.toSorted((left, right) => lengthOf(right) - lengthOf(left))[0]
}

function idOf({ addresses, hostname = '', targetRef }: Endpoint): string {
  return [(addresses ?? []).toSorted().join(), hostname, targetRef?.namespace ?? '', targetRef?.name ?? ''].join(' ')
}

function isSameEndpoint(left: Endpoint, right: Endpoint): boolean {
  const facts = ({ conditions, nodeName, zone, targetRef }: Endpoint) => ({
    ready: conditions?.ready ?? null,
    serving: conditions?.serving ?? null,
    terminating: conditions?.terminating ?? null,
    nodeName: nodeName ?? null,
    zone: zone ?? null,
    uid: targetRef?.uid ?? null,
  })
  return jsonEqual(facts(left), facts(right))
}
