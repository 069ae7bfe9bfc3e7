import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { type NodesService, objectKey, type PodOnNode, type StorageService } from '@orch/core/contracts'
import { at, parseBytes } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { Clock } from '../clock.ts'
import { connectToPod } from '../node-sessions.ts'
import { portOfSlice, readSlices, readyEndpoints } from './endpoint-slices.ts'
import { limits } from './limits.ts'

/** A reference to a Service in a webhook or an APIService. */
export interface ServicePlace {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** An address to connect to. */
export interface Address {
  readonly host: string
  readonly port: number
  /** The reason why the address is only a DNS name, for the error if that name does not resolve. */
  readonly doubt?: string
  /** Connects to the port of a simulated Pod, or with `elsewhere` if its node is not simulated. */
  readonly open?: (elsewhere: () => Duplex) => Duplex
}

/** The targets that calls may reach. */
export interface CallPlaces {
  /** Configured addresses of Services: `namespace/name` → `host:port`. */
  readonly services: ReadonlyMap<string, string>
  /** True if Services without addresses are looked up in DNS, because the server runs in a cluster. */
  readonly asksDns: boolean
  /** True if link-local addresses may be called, such as that of a cloud's metadata service. */
  readonly allowsLinkLocal: boolean
}

/** The call targets by default. */
export const noPlaces: CallPlaces = { services: new Map(), asksDns: false, allowsLinkLocal: false }

/** A Service without a usable address; the message says why. */
export class UnresolvedService extends Error {}

export interface AddressNeeds {
  readonly storage: StorageService
  /** The connections to simulated Pods; undefined for none. */
  readonly nodes?: NodesService | undefined
  readonly names: Names
  readonly clock: Clock
  /** A number in [0, 1) that selects one of several addresses. */
  readonly random: () => number
  readonly places: Pick<CallPlaces, 'services' | 'asksDns'>
}

/** Finds the addresses of Services and URLs. */
export interface ServiceAddresses {
  /** Rejects with an `UnresolvedService` if there is no address. */
  find(place: ServicePlace): Promise<Address>
  /** The address of a URL, whose host may be the address of a simulated Pod. */
  findUrl(url: Pick<Address, 'host' | 'port'>): Address
}

/** The stored addresses of a Service, or the reason why it has none. */
type Found = { readonly kind: 'addresses'; readonly addresses: readonly Address[] } | { readonly kind: 'none'; readonly reason: string }

/** Tries in order: the configured address, ready endpoints, the external name, and within a cluster the DNS name. */
export function createServiceAddresses(needs: AddressNeeds): ServiceAddresses {
  const { clock, random, places } = needs
  const remembered = new Map<string, Found & { readonly untilMs: number }>()
  const look = async (key: string, place: ServicePlace): Promise<Found> => {
    const found = await lookUp(place, needs)
    if (remembered.size >= limits.addressesMax) remembered.clear()
    remembered.set(key, { ...found, untilMs: clock.monotonic() + limits.addressAgeMsMax })
    return found
  }
  return {
    async find(place) {
      const configured = places.services.get(`${place.namespace}/${place.name}`)
      if (configured !== undefined) return parseAddress(configured)
      const key = `${place.namespace}/${place.name}:${place.port}`
      const memory = remembered.get(key)
      const found = memory !== undefined && memory.untilMs > clock.monotonic() ? memory : await look(key, place)
      if (found.kind === 'addresses') return at(found.addresses, Math.floor(random() * found.addresses.length))
      if (!places.asksDns) throw new UnresolvedService(found.reason)
      return { host: `${place.name}.${place.namespace}.svc`, port: place.port, doubt: found.reason }
    },
    findUrl: (url) => (mayBePod(url) ? { ...url, ...openingOf(undefined, url, needs) } : url),
  }
}

/** No Pod has a loopback address. */
function mayBePod({ host }: Pick<Address, 'host'>): boolean {
  return isIP(host) !== 0 && host !== '::1' && !host.startsWith('127.')
}

/** Like `createServiceAddresses`, for a network that routes cluster IPs: a Service is reached at its own address. */
export function createClusterAddresses(needs: AddressNeeds): ServiceAddresses {
  const { storage, places } = needs
  const others = createServiceAddresses(needs)
  return {
    ...others,
    async find(place) {
      if (places.services.has(`${place.namespace}/${place.name}`)) return others.find(place)
      const service = await read<Service>(storage, 'core/services', place)
      const { type = 'ClusterIP', clusterIP = '' } = service?.spec ?? {}
      if (type === 'ExternalName' || clusterIP === '' || clusterIP === 'None') return others.find(place)
      return { host: clusterIP, port: place.port }
    },
  }
}

/** Parses `host:port`, with an IPv6 host in brackets. */
export function parseAddress(text: string): Address {
  const colon = text.lastIndexOf(':')
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) }
}

interface Service extends ApiObject {
  readonly spec?: {
    readonly type?: string
    readonly clusterIP?: string
    readonly externalName?: string
    readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[]
  }
}

async function lookUp(place: ServicePlace, needs: AddressNeeds): Promise<Found> {
  const none = (what: string): Found => ({ kind: 'none', reason: what })
  const service = await read<Service>(needs.storage, 'core/services', place)
  const named = `service ${JSON.stringify(place.name)}`
  if (service === undefined) return none(`${named} not found`)
  const port = service.spec?.ports?.find(({ port: number, protocol = 'TCP' }) => number === place.port && protocol === 'TCP')
  const portName = port?.name ?? ''
  const ready = port === undefined ? [] : await readyAddresses(place, portName, needs)
  if (ready.length > 0) return { kind: 'addresses', addresses: ready }
  const { type, externalName = '' } = service.spec ?? {}
  if (type === 'ExternalName' && externalName !== '') return { kind: 'addresses', addresses: [{ host: externalName, port: place.port }] }
  return none(port === undefined ? `no service port ${place.port} found for ${named}` : `no endpoints available for ${named}`)
}

async function readyAddresses(place: ServicePlace, portName: string, needs: AddressNeeds): Promise<readonly Address[]> {
  const slices = await readSlices(place, needs)
  const sliced = slices.flatMap((slice) => {
    const port = portOfSlice(slice, portName)
    if (port === undefined) return []
    return readyEndpoints(slice).flatMap(({ addresses, ...endpoint }) =>
      (addresses ?? []).map((host) => ({ host, port, ...openingOf(podOf(endpoint), { host, port }, needs) })),
    )
  })
  if (sliced.length > 0) return sliced
  const endpoints = await read<Endpoints>(needs.storage, 'core/endpoints', place)
  return (endpoints?.['subsets'] ?? []).flatMap(({ addresses = [], ports = [] }) => {
    const port = (ports ?? []).find(({ name = '' }) => name === portName)?.port
    if (port === undefined) return []
    return addresses.map(({ ip: host, ...endpoint }) => ({ host, port, ...openingOf(podOf(endpoint), { host, port }, needs) }))
  })
}

/** The node and the object of an endpoint. */
interface EndpointPod {
  readonly nodeName?: string | undefined
  readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string; readonly uid?: string } | undefined
}

function podOf({ nodeName: node = '', targetRef }: EndpointPod): PodOnNode | undefined {
  const { kind, namespace = '', name = '', uid = '' } = targetRef ?? {}
  return kind !== 'Pod' || node === '' ? undefined : { node, namespace, name, uid }
}

/** A simulated Pod has no address on a network, so its node connects. Without a Pod, the address decides. */
function openingOf(pod: PodOnNode | undefined, { host: address, port }: Address, { nodes }: AddressNeeds): Pick<Address, 'open'> {
  if (nodes === undefined) return {}
  return { open: (elsewhere) => connectToPod(nodes, { ...(pod && { pod }), port, address }, { elsewhere }) }
}

interface Endpoints extends ApiObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly (EndpointPod & { readonly ip: string })[]
    readonly ports?: readonly { readonly name?: string; readonly port: number }[]
  }[]
}

async function read<T extends ApiObject>(
  storage: StorageService,
  prefix: string,
  { namespace, name }: ServicePlace,
): Promise<T | undefined> {
  const { entry } = await storage.get({ key: objectKey(prefix, namespace, name), read: { kind: 'latest' } })
  return entry === undefined ? undefined : parse<T>(entry.value)
}

/** Stored objects were validated by the gateway. */
function parse<T extends ApiObject>(value: Uint8Array): T {
  return parseBytes(value)
}
