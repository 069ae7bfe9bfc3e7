import { randomUUID } from 'node:crypto'
import {
  type ApiObject,
  encodeObject,
  encodeStored,
  type FieldError,
  internal,
  invalid,
  type StorageService,
  schemaFingerprint,
} from '@orch/core'
import { addressAt, type Cidr, type Clock, type Log, settingTypes } from '@orch/platform'
import type { Served } from '../served.ts'
import { inOrder } from '../write/candidate.ts'
import type { Write } from '../write/write-loop.ts'

/** Gives Services their addresses and ports, so that no two have the same. */
export interface Allocator {
  /** Reserves what an object wants and lacks. The object returned is complete. */
  reserve(write: Write, object: ApiObject, live: ApiObject | undefined): Promise<Reservation>
  /** Gives back what an object that is gone had. */
  release(served: Served, object: ApiObject): Promise<void>
  close(): void
}

export interface Reservation {
  readonly object: ApiObject
  /** The object was written: what it no longer needs is given back. */
  settle(): Promise<void>
  /** The object was not written: what was reserved for it is given back. */
  release(): Promise<void>
}

export interface AllocatorOptions {
  readonly storage: StorageService
  readonly clock: Clock
  readonly random: (bound: number) => number
  readonly log: Log
  readonly clusterIpRange: string
  readonly nodePortRange: { readonly from: number; readonly to: number }
}

const { cidr } = settingTypes

/** Storage prefixes of reservations; no path leads to them. */
const addressPrefix = 'allocation/addresses'
const portPrefix = 'allocation/ports'
const servicePrefix = 'core/services'

/** A reservation whose Service has not come, or is gone without giving it back, is swept after this. */
const orphanMs = 120_000
const sweepIntervalMs = 30_000
/** Random tries before the range is searched from one end to the other. */
const randomTries = 16

interface ServicePort {
  readonly nodePort?: number
  readonly [field: string]: unknown
}

interface ServiceSpec {
  readonly type?: string
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly ports?: readonly ServicePort[]
  readonly healthCheckNodePort?: number
  readonly externalTrafficPolicy?: string
  readonly [field: string]: unknown
}

/** One address or port is one key, made before the Service with the Service's uid in it. */
export function createAllocator(options: AllocatorOptions): Allocator {
  const range = cidr.parse(options.clusterIpRange)
  if (range === undefined) throw new Error(`${JSON.stringify(options.clusterIpRange)} is not ${cidr.expected}`)
  const keys = new ReservedKeys(options)
  const nothing = (object: ApiObject): Reservation => ({ object, settle: async () => {}, release: async () => {} })
  return {
    async reserve({ target, options: { isDryRun } }, object, live) {
      if (!isService(target.served)) return nothing(object)
      return reserveForService({ keys, range, ports: options.nodePortRange, object, live, isDryRun, served: target.served })
    },
    async release(served, object) {
      if (isService(served)) for (const key of heldKeys(specOf(object))) await keys.free(key, object.metadata.uid ?? '')
    },
    close: () => keys.close(),
  }
}

function isService({ resource }: Served): boolean {
  return resource.group === '' && resource.kind === 'Service'
}

function specOf(object: ApiObject): ServiceSpec {
  return (object.spec ?? {}) as ServiceSpec
}

interface ServiceReservation {
  readonly keys: ReservedKeys
  readonly range: Cidr
  readonly ports: AllocatorOptions['nodePortRange']
  readonly object: ApiObject
  readonly live: ApiObject | undefined
  readonly isDryRun: boolean
  readonly served: Served
}

async function reserveForService({ keys, range, ports, object, live, isDryRun, served }: ServiceReservation): Promise<Reservation> {
  const uid = object.metadata.uid ?? ''
  const before = live === undefined ? {} : specOf(live)
  const taken: string[] = []
  const claim = new Claim(keys, uid, isDryRun, new Set(heldKeys(before)), taken)
  try {
    const spec = { ...specOf(object) }
    await claimAddress(claim, range, spec, before, { served, name: object.metadata.name ?? '' })
    await claimPorts(claim, ports, spec, before, { served, name: object.metadata.name ?? '' })
    const freed = heldKeys(before).filter((key) => !heldKeys(spec).includes(key))
    return {
      object: inOrder(served.resource, { ...object, spec }),
      settle: () => keys.freeAll(isDryRun ? [] : freed, uid),
      release: () => keys.freeAll(taken, uid),
    }
  } catch (error) {
    await keys.freeAll(taken, uid)
    throw error
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Subject = { readonly served: Served; readonly name: string }

async function claimAddress(claim: Claim, range: Cidr, spec: Writable<ServiceSpec>, before: ServiceSpec, subject: Subject): Promise<void> {
  if (spec.type === 'ExternalName') {
    delete spec.clusterIP
    delete spec.clusterIPs
    return
  }
  const wanted = spec.clusterIP || spec.clusterIPs?.[0] || (before.type === 'ExternalName' ? '' : (before.clusterIP ?? ''))
  if (wanted === 'None') {
    Object.assign(spec, { clusterIP: 'None', clusterIPs: ['None'] })
    return
  }
  const address = wanted === '' ? await claim.any(addressPrefix, sizeOf(range), (index) => addressAt(range, index + 1)) : wanted
  if (wanted !== '') {
    const problem = includes(range, wanted) ? await claim.one(addressPrefix, wanted) : 'not in the valid range'
    const text =
      problem === 'taken'
        ? 'provided IP is already allocated'
        : `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${range.text}`
    if (problem !== undefined)
      throw refused(
        subject,
        'spec.clusterIPs',
        `Invalid value: []string{${JSON.stringify(wanted)}}: failed to allocate IP ${wanted}: ${text}`,
      )
  }
  const family = range.family === 4 ? 'IPv4' : 'IPv6'
  Object.assign(spec, {
    clusterIP: address,
    clusterIPs: [address],
    ipFamilies: [family],
    ipFamilyPolicy: spec.ipFamilyPolicy ?? 'SingleStack',
  })
}

async function claimPorts(
  claim: Claim,
  range: AllocatorOptions['nodePortRange'],
  spec: Writable<ServiceSpec>,
  before: ServiceSpec,
  subject: Subject,
): Promise<void> {
  if (spec.type !== 'NodePort' && spec.type !== 'LoadBalancer') {
    spec.ports = spec.ports?.map(({ nodePort: _nodePort, ...port }) => port)
    return
  }
  const inUse = new Map(before.ports?.map((port) => [`${port.protocol}/${port.port}`, port.nodePort]))
  const given: ServicePort[] = []
  for (const [index, port] of (spec.ports ?? []).entries()) {
    const wanted = port.nodePort || inUse.get(`${port.protocol}/${port.port}`) || 0
    given.push({
      ...port,
      nodePort:
        wanted === 0 ? await claimFreePort(claim, range) : await claimPort(claim, range, wanted, `spec.ports[${index}].nodePort`, subject),
    })
  }
  spec.ports = given
}

async function claimFreePort(claim: Claim, { from, to }: AllocatorOptions['nodePortRange']): Promise<number> {
  return Number(await claim.any(portPrefix, to - from + 1, (index) => String(from + index)))
}

async function claimPort(
  claim: Claim,
  { from, to }: AllocatorOptions['nodePortRange'],
  wanted: number,
  field: string,
  subject: Subject,
): Promise<number> {
  if (wanted < from || wanted > to)
    throw refused(
      subject,
      field,
      `Invalid value: ${wanted}: provided port is not in the valid range. The range of valid ports is ${from}-${to}`,
    )
  if ((await claim.one(portPrefix, String(wanted))) === 'taken')
    throw refused(subject, field, `Invalid value: ${wanted}: provided port is already allocated`)
  return wanted
}

function refused({ served, name }: Subject, field: string, message: string): Error {
  const error: FieldError = { reason: 'FieldValueInvalid', field, message }
  return invalid(served.kind, name, [error])
}

function sizeOf({ bits, family }: Cidr): number {
  return Math.min(2 ** ((family === 4 ? 32 : 128) - bits) - 2, 2 ** 20)
}

function includes(range: Cidr, address: string): boolean {
  const single = cidr.parse(`${address}/${range.family === 4 ? 29 : 125}`)
  if (single === undefined || single.family !== range.family) return false
  return cidr.parse(`${address}/${range.bits}`)?.text === range.text
}

function heldKeys({ type, clusterIP, ports }: ServiceSpec): string[] {
  if (type === 'ExternalName') return []
  const addresses = clusterIP === undefined || clusterIP === '' || clusterIP === 'None' ? [] : [`${addressPrefix}/${clusterIP}`]
  const portKeys = (ports ?? []).flatMap(({ nodePort }) => (nodePort ? [`${portPrefix}/${nodePort}`] : []))
  return [...addresses, ...new Set(portKeys)]
}

/** What one write reserves. What its object has already, it need not reserve again. */
class Claim {
  readonly #keys: ReservedKeys
  readonly #uid: string
  readonly #isDryRun: boolean
  readonly #own: Set<string>
  readonly #taken: string[]

  constructor(keys: ReservedKeys, uid: string, isDryRun: boolean, own: Set<string>, taken: string[]) {
    this.#keys = keys
    this.#uid = uid
    this.#isDryRun = isDryRun
    this.#own = own
    this.#taken = taken
  }

  async one(prefix: string, name: string): Promise<'taken' | undefined> {
    const key = `${prefix}/${name}`
    if (this.#own.has(key)) return undefined
    if (this.#isDryRun) return (await this.#keys.isTaken(key)) ? 'taken' : undefined
    if (!(await this.#keys.take(key, this.#uid))) return 'taken'
    this.#taken.push(key)
    this.#own.add(key)
    return undefined
  }

  async any(prefix: string, size: number, nameAt: (index: number) => string): Promise<string> {
    for (let attempt = 0; attempt < randomTries; attempt++) {
      const name = nameAt(this.#keys.random(size))
      if (!this.#own.has(`${prefix}/${name}`) && (await this.one(prefix, name)) === undefined) return name
    }
    const used = await this.#keys.namesBelow(prefix)
    for (let index = 0; index < size; index++) {
      const name = nameAt(index)
      if (!used.has(name) && !this.#own.has(`${prefix}/${name}`) && (await this.one(prefix, name)) === undefined) return name
    }
    throw internal('failed to allocate a serviceIP or port: the range is full')
  }
}

/** The keys in storage, and the sweep of those that nobody holds any more. */
class ReservedKeys {
  readonly #options: AllocatorOptions
  readonly #sweep: { cancel(): void }
  /** Reservations without their Service, and since when. */
  readonly #orphans = new Map<string, number>()

  constructor(options: AllocatorOptions) {
    this.#options = options
    this.#sweep = options.clock.every(
      sweepIntervalMs,
      () => void this.#sweepOnce().catch((error: unknown) => options.log.warn({ err: error }, 'reservations could not be swept')),
    )
  }

  random(bound: number): number {
    return this.#options.random(bound)
  }

  async isTaken(key: string): Promise<boolean> {
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    return entry !== undefined
  }

  async take(key: string, uid: string): Promise<boolean> {
    const name = key.slice(key.lastIndexOf('/') + 1)
    const writeId = randomUUID()
    const encoded = encodeObject({ kind: 'Reservation', metadata: { name, uid } })
    const value = encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs: 0, encoded, labels: {}, fields: {} })
    const outcome = await this.#options.storage.commit({ key, expected: 0, conditions: [], value, writeId })
    return outcome.kind === 'written'
  }

  /** Frees a key only from its own holder. */
  async free(key: string, uid: string): Promise<void> {
    const { storage } = this.#options
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    if (entry === undefined || holderOf(entry.value) !== uid) return
    await storage.commit({ key, expected: entry.revision, conditions: [], writeId: randomUUID() })
  }

  async freeAll(keys: readonly string[], uid: string): Promise<void> {
    for (const key of keys) await this.free(key, uid)
  }

  async namesBelow(prefix: string): Promise<Set<string>> {
    return new Set((await this.#list(prefix)).map(({ key }) => key.slice(prefix.length + 1)))
  }

  close(): void {
    this.#sweep.cancel()
  }

  async #list(resource: string) {
    const entries = []
    const listed = this.#options.storage.list({
      scope: { resource },
      selection: { labels: [], fields: [] },
      read: { kind: 'latest' },
      limit: 0,
      start: '',
      form: 'entries',
    })
    for await (const part of listed) if (part.kind === 'entries') entries.push(...part.entries)
    return entries
  }

  async #sweepOnce(): Promise<void> {
    const reserved = [...(await this.#list(addressPrefix)), ...(await this.#list(portPrefix))]
    if (reserved.length === 0) return
    const holders = new Set((await this.#list(servicePrefix)).map(({ value }) => holderOf(value)))
    const now = this.#options.clock.monotonic()
    for (const { key, value } of reserved) {
      const holder = holderOf(value)
      if (holders.has(holder)) {
        this.#orphans.delete(key)
        continue
      }
      const since = this.#orphans.get(key) ?? now
      this.#orphans.set(key, since)
      if (now - since < orphanMs) continue
      this.#orphans.delete(key)
      await this.free(key, holder)
    }
  }
}

function holderOf(value: Uint8Array): string {
  const { metadata } = JSON.parse(Buffer.from(value).toString()) as { metadata: { uid?: string } }
  return metadata.uid ?? ''
}
