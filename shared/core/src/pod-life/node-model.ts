import type { ApiObject } from '../meta/object-meta.ts'
import { compareQuantities, parseQuantity, printQuantity, type Quantity, subtractQuantities, zeroQuantity } from '../meta/quantity.ts'
import { kwokDomain, type Names } from '../names.ts'
import { parseIp } from '../validation/ip-address.ts'
import type { Node } from '../workloads/pods.ts'

type NodeAddress = NonNullable<Node['status']['addresses']>[number]
type Amounts = Readonly<Record<string, string>>

/** An image on a node, with its names: digests first, then tags. */
export interface NodeImage {
  readonly names: readonly string[]
  readonly sizeBytes: number
}

/** Maximum number of images that a kubelet reports, and of names per image. */
const imagesMax = 50
const imageNamesMax = 5

/** True for a Node that asks to be simulated, by an annotation of this server or of kwok. */
export function asksForSimulation(
  { metadata: { annotations } }: Pick<ApiObject, 'metadata'>,
  names: Pick<Names, 'simulationDomain'>,
): boolean {
  return annotations?.[`${names.simulationDomain}/node`] === 'true' || annotations?.[`${kwokDomain}/node`] === 'fake'
}

/** The addresses that a kubelet reports: those in the Node, or the machine's IP addresses if it has none, and the name. */
export function reportedAddresses(present: readonly NodeAddress[], addresses: readonly string[], name: string): NodeAddress[] {
  const isThere = (...types: readonly string[]) => present.some(({ type }) => types.includes(type))
  const internal = addresses.map((address) => ({ type: 'InternalIP', address }))
  const hostname = { type: 'Hostname', address: name }
  return [...present, ...(isThere('InternalIP', 'ExternalIP') ? [] : internal), ...(isThere('Hostname') ? [] : [hostname])]
}

const isIpv6 = (address: string) => address.includes(':')

/** A node's addresses as its Pods see them: the first internal one, or else the first external one, and the first of the other family. */
export function hostAddresses(addresses: readonly NodeAddress[]): string[] {
  const inOrder = ['InternalIP', 'ExternalIP'].flatMap((type) => addresses.filter((one) => one.type === type))
  const [first, ...others] = inOrder.map(({ address }) => address)
  if (first === undefined) return []
  const second = others.find((address) => isIpv6(address) !== isIpv6(first))
  return second === undefined ? [first] : [first, second]
}

/** The addresses of a Pod with host networking. The first one stays when the node gets another. */
export function hostNetworkAddresses(present: readonly string[], ofNode: readonly string[]): readonly string[] {
  const [first] = present
  if (first === undefined) return ofNode
  const [, second] = ofNode
  return present.length === 1 && second !== undefined && isIpv6(second) !== isIpv6(first) ? [first, second] : present
}

/**
 * The allocatable part of a node's capacity. Huge pages are subtracted from memory, and amounts are at least 0.
 *
 *   capacity { cpu: 2, memory: 1Ki, pods: 110 } without { cpu: 1m, pods: 1 }   { cpu: 1999m, memory: 1Ki, pods: 109 }
 */
export function allocatableOf(capacity: Amounts, reserved: Amounts = {}): Record<string, string> {
  const pages = Object.entries(capacity).filter(([resource]) => resource.startsWith('hugepages-'))
  const without = (resource: string, text: string): string => {
    const amount = parseQuantity(text)
    if (amount === undefined) return text
    const taken = [reserved[resource] ?? '0', ...(resource === 'memory' ? pages.map(([, size]) => size) : [])]
    const left = taken.reduce<Quantity>((sum, one) => subtractQuantities(sum, parseQuantity(one) ?? zeroQuantity), amount)
    if (compareQuantities(left, zeroQuantity) < 0) return '0'
    return compareQuantities(left, amount) === 0 ? text : printQuantity(left)
  }
  return Object.fromEntries(Object.entries(capacity).map(([resource, text]) => [resource, without(resource, text)]))
}

/** The images that a kubelet reports, largest first. */
export function reportedImages(images: readonly NodeImage[], max = imagesMax): NodeImage[] {
  const bySize = images.toSorted((one, other) => other.sizeBytes - one.sizeBytes)
  return bySize.slice(0, max < 0 ? undefined : max).map(({ names, sizeBytes }) => ({ names: names.slice(0, imageNamesMax), sizeBytes }))
}

/** The kind of an invalid node address, as for a kubelet's --node-ip; undefined if it is valid. */
export function addressProblem(address: string): string | undefined {
  if (parseIp(address) === undefined) return JSON.stringify(address)
  const kinds: readonly [RegExp, string][] = [
    [/^127\.|^::1$/, 'a loopback address'],
    [/^(22[4-9]|23\d)\.|^ff/i, 'a multicast address'],
    [/^169\.254\.|^fe[89ab]/i, 'a link-local address'],
    [/^(0\.0\.0\.0|::)$/, 'an unspecified address'],
  ]
  return kinds.find(([pattern]) => pattern.test(address))?.[1]
}
