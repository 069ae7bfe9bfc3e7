import { getOrMake } from '@orch/cel/memo'
import type { BuiltIn } from '../../schema/built-in.ts'
import { isReadyPod, type Pod } from '../pods.ts'
import { addressesOf, familiesOf, hostnameOf, isEndpointPod, portAt, type Service } from './endpoint-pods.ts'

export type Subset = BuiltIn<'core/v1.EndpointSubset'>
type Address = BuiltIn<'core/v1.EndpointAddress'>
type Port = BuiltIn<'core/v1.EndpointPort'>

/** Maximum number of addresses per object. */
const addressesMax = 1000

/** Hashes a text to hexadecimal digits. */
export type Hash = (text: string) => string

/** The subsets of a Service for its Pods. */
export function subsetsOf(
  service: Service,
  pods: readonly Pod[],
  { level, hash }: { readonly level: number; readonly hash: Hash },
): Subset[] {
  const { ports, publishNotReadyAddresses = false, clusterIP } = service.spec
  const [family = 'IPv4'] = familiesOf(service)
  const found: Subset[] = []
  for (const pod of pods.filter((one) => isEndpointPod(one, publishNotReadyAddresses))) {
    const [ip] = addressesOf(pod, family)
    if (ip === undefined) continue
    const isReady = publishNotReadyAddresses || isReadyPod(pod)
    const address = addressOf(pod, ip, service)
    const add = (own: readonly Port[]) =>
      found.push(isReady ? { addresses: [address], ports: own } : { notReadyAddresses: [address], ports: own })
    if ((ports ?? []).length === 0) {
      if (clusterIP === 'None') add([])
      continue
    }
    for (const port of ports ?? []) {
      const number = portAt(pod, port, level)
      if (number === undefined) continue
      const { name = '', protocol = 'TCP', appProtocol } = port
      add([{ ...(name !== '' && { name }), port: number, protocol, ...(appProtocol != null && { appProtocol }) }])
    }
  }
  return repack(found, hash)
}

function addressOf(pod: Pod, ip: string, service: Service): Address {
  const { name, namespace, uid } = pod.metadata
  const hostname = hostnameOf(pod, service)
  const { nodeName } = pod.spec
  return {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(nodeName && { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}

interface Group {
  readonly ports: Port[]
  readonly addresses: ReadonlyMap<string, { readonly address: Address; readonly isReady: boolean }>
}

/**
 * Merges subsets so that each set of ports occurs once. An address that is ready in one entry and unready in another of the same port is unready. As
 * upstream, ports and subsets are sorted by hashes of their Go form.
 *
 *   [a:80], [a:443], [b:80]   →   [a:443], [a,b:80]
 */
export function repack(subsets: readonly Subset[], hash: Hash): Subset[] {
  const known = new Map<string, Address>()
  const byPort = new Map<
    string,
    { readonly port: Port | undefined; readonly addresses: Map<string, { address: Address; isReady: boolean }> }
  >()
  for (const { ports, addresses, notReadyAddresses } of subsets) {
    for (const port of (ports ?? []).length === 0 ? [undefined] : (ports ?? [])) {
      const key = port === undefined ? '' : printPort(port)
      const entry = getOrMake(byPort, key, () => ({ port, addresses: new Map<string, { address: Address; isReady: boolean }>() }))
      const add = (address: Address, isReady: boolean) => {
        const id = `${address.ip} ${address.targetRef?.uid ?? ''}`
        const first = getOrMake(known, id, () => address)
        entry.addresses.set(id, { address: first, isReady: isReady && entry.addresses.get(id)?.isReady !== false })
      }
      for (const address of addresses ?? []) add(address, true)
      for (const address of notReadyAddresses ?? []) add(address, false)
    }
  }
  const groups = new Map<string, Group>()
  for (const { port, addresses } of byPort.values()) {
    const key = [...addresses]
      .map(([id, { isReady }]) => `${id} ${isReady}`)
      .sort()
      .join()
    const group = getOrMake(groups, key, () => ({ ports: [], addresses }))
    if (port !== undefined) group.ports.push(port)
  }
  return sortedByHash(
    [...groups.values()].map((group) => toSubset(group, hash)),
    hash,
    printSubset,
  )
}

function toSubset({ ports, addresses }: Group, hash: Hash): Subset {
  const of = (wanted: boolean) =>
    [...addresses.values()].flatMap(({ address, isReady }) => (isReady === wanted ? [address] : [])).sort(byAddress)
  const [ready, notReady] = [of(true), of(false)]
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports.length > 0 && { ports: sortedByHash(ports, hash, (port) => `(v1.EndpointPort)${printPort(port)}`) }),
  }
}

function byAddress(left: Address, right: Address): number {
  const keyOf = ({ ip = '', targetRef }: Address) => `${ip}\u0000${targetRef?.uid ?? ''}`
  return keyOf(left) < keyOf(right) ? -1 : 1
}

/** The items in the order of hashes of their Go form: by MD5 below 1.35, and by `fnv128a` since. */
export function sortedByHash<T>(items: readonly T[], hash: Hash, print: (item: T) => string): T[] {
  if (items.length < 2) return [...items]
  const hashed = items.map((item) => ({ item, hash: hash(print(item)) }))
  return hashed.sort((left, right) => (left.hash < right.hash ? -1 : 1)).map(({ item }) => item)
}

/** A port in the form that Go dumps for hashing. */
function printPort({ name = '', port, protocol = '', appProtocol }: Port): string {
  return `{Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
}

function printSubset({ addresses, notReadyAddresses, ports }: Subset): string {
  const list = (items: readonly string[]) => (items.length === 0 ? '<nil>' : `[${items.join(' ')}]`)
  const printed = (some: readonly Address[] | null | undefined) => `([]v1.EndpointAddress)${list((some ?? []).map(printAddress))}`
  const ofPorts = `([]v1.EndpointPort)${list((ports ?? []).map(printPort))}`
  return `(v1.EndpointSubset){Addresses:${printed(addresses)} NotReadyAddresses:${printed(notReadyAddresses)} Ports:${ofPorts}}`
}

function printAddress({ ip = '', hostname = '', nodeName, targetRef }: Address): string {
  const reference = targetRef == null ? '<nil>' : printReference(targetRef)
  return `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:(*string)${nodeName ?? '<nil>'} TargetRef:(*v1.ObjectReference)${reference}}`
}

function printReference(reference: NonNullable<Address['targetRef']>): string {
  const { kind = '', namespace = '', name = '', uid = '', apiVersion = '', resourceVersion = '', fieldPath = '' } = reference
  const first = `Kind:(string)${kind} Namespace:(string)${namespace} Name:(string)${name} UID:(types.UID)${uid}`
  return `{${first} APIVersion:(string)${apiVersion} ResourceVersion:(string)${resourceVersion} FieldPath:(string)${fieldPath}}`
}

/** At most 1,000 addresses, ready ones first, distributed proportionally over the subsets; undefined if there are no more than that. */
export function truncated(subsets: readonly Subset[]): Subset[] | undefined {
  const count = (of: (subset: Subset) => readonly unknown[] | null | undefined) =>
    subsets.reduce((sum, subset) => sum + (of(subset)?.length ?? 0), 0)
  const [ready, notReady] = [count(({ addresses }) => addresses), count(({ notReadyAddresses }) => notReadyAddresses)]
  if (ready + notReady <= addressesMax) return undefined
  const cutsReady = ready > addressesMax
  const [max, total] = cutsReady ? [addressesMax, ready] : [addressesMax - ready, notReady]
  let left = max
  return subsets.map(({ addresses, notReadyAddresses, ...rest }) => {
    const cut = (cutsReady ? addresses : notReadyAddresses) ?? []
    const kept = cut.slice(0, Math.min(left, Math.ceil((cut.length / total) * max)))
    left -= kept.length
    return cutsReady ? { ...rest, addresses: kept } : { ...rest, ...(addresses && { addresses }), notReadyAddresses: kept }
  })
}

/** The offset basis of the hash, lowest 32 bits first. */
const offset = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e] as const
/** The FNV prime minus 2^88. */
const prime = 0x13b

/** 128-bit FNV-1a over the UTF-8 of a text, in hexadecimal. */
export function fnv128a(text: string): string {
  let [a, b, c, d]: [number, number, number, number] = [...offset]
  for (const byte of new TextEncoder().encode(text)) {
    const first = (a ^ byte) >>> 0
    const second = b
    const low = first * prime
    const next = second * prime + Math.floor(low / 2 ** 32)
    // 2^88 shifts by 24 bits within the third of four words.
    const third = c * prime + Math.floor(next / 2 ** 32) + ((first << 24) >>> 0)
    const fourth = d * prime + Math.floor(third / 2 ** 32) + ((second << 24) >>> 0) + (first >>> 8)
    a = low >>> 0
    b = next >>> 0
    c = third >>> 0
    d = fourth >>> 0
  }
  return [d, c, b, a].map((part) => part.toString(16).padStart(8, '0')).join('')
}
