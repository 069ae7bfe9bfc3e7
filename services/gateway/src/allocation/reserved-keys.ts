import type { Resource } from '@orch/core/catalogue'
import { type Entry, listEntries } from '@orch/core/contracts'
import type { ApiObject, Revision } from '@orch/core/meta'
import { type BuiltIn, parseStored, requireType, type TypeName } from '@orch/core/schema'
import { encodeObject, encodeStored, schemaFingerprint } from '@orch/core/stored'
import { usualAddress } from '@orch/platform'
import type { Draws } from '../request/draws.ts'
import type { Surroundings } from '../surroundings.ts'
import { Sweep } from '../write/sweep.ts'
import { type AddressObjectParts, encodeAddress, type Holder, parentOf } from './address-objects.ts'

/** Storage prefixes of reservations, which no request can address. Addresses are IPAddress objects from the level that has these. */
const hiddenAddressPrefix = 'allocation/addresses'
export const portPrefix = 'allocation/ports'
export const servicePrefix = 'core/services'

/** A reservation without a Service is swept after this time, and after twice the timeout of a request, which may still be in progress. */
const orphanMsMin = 120_000
const sweepDelayMs = 30_000

export type ServicePort = BuiltIn<'core/v1.ServicePort'>
export type ServiceSpec = Partial<BuiltIn<'core/v1.ServiceSpec'>>

export function specOf(object: ApiObject): ServiceSpec {
  return requireType('core/v1.Service', object).spec
}

/** Keys held by a Service; the prefix is that of addresses. */
export function heldKeys(
  { type, clusterIP = '', clusterIPs = [], ports, healthCheckNodePort }: ServiceSpec,
  addressPrefix: string,
): string[] {
  if (type === 'ExternalName') return []
  const addresses = (clusterIPs.length > 0 ? clusterIPs : [clusterIP]).filter((address) => address !== '' && address !== 'None')
  const nodePorts = [...(ports ?? []).map(({ nodePort }) => nodePort), healthCheckNodePort]
  const portKeys = nodePorts.flatMap((nodePort) => (nodePort ? [`${portPrefix}/${nodePort}`] : []))
  return [...addresses.map((address) => `${addressPrefix}/${usualAddress(address)}`), ...new Set(portKeys)]
}

export interface ReservedKeysOptions extends Pick<Surroundings, 'storage' | 'clock' | 'random' | 'names' | 'log'> {
  readonly draws: Pick<Draws, 'address' | 'uid' | 'writeId'>
  /** The kind IPAddress; undefined if the level lacks it. */
  readonly addressResource: Resource | undefined
  readonly requestTimeoutMs: number
}

/** The keys in storage, and the sweep of unused ones. */
export class ReservedKeys {
  readonly #options: ReservedKeysOptions
  readonly #orphanMs: number
  readonly #sweep: Sweep
  readonly #addresses: AddressObjectParts | undefined
  /** Storage prefix of addresses. */
  readonly addressPrefix: string
  #completion: Promise<void> | undefined
  /** Reservations without a Service, by key and revision, with the time of their first observation. */
  #orphans = new Map<string, number>()

  constructor(options: ReservedKeysOptions) {
    this.#options = options
    const { addressResource: resource } = options
    this.#addresses = resource && { ...options, resource }
    this.addressPrefix = resource?.stored.prefix ?? hiddenAddressPrefix
    this.#orphanMs = Math.max(orphanMsMin, 2 * options.requestTimeoutMs)
    this.#sweep = new Sweep({
      ...options,
      resources: [this.addressPrefix, portPrefix, servicePrefix],
      delayMs: sweepDelayMs,
      sweep: () => this.#sweepOnce(),
      problem: 'reservations could not be swept',
    })
  }

  random(bound: number): number {
    return this.#options.draws.address(bound)
  }

  async isTaken(key: string): Promise<boolean> {
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    return entry !== undefined
  }

  async take(key: string, holder: Holder): Promise<boolean> {
    this.#completion ??= this.#completeAddresses()
    try {
      await this.#completion
    } catch (error) {
      this.#completion = undefined
      throw error
    }
    return this.#create(key, holder)
  }

  /** Services that were stored at another level hold no addresses of this one. */
  async #completeAddresses(): Promise<void> {
    const taken = await this.namesBelow(this.addressPrefix)
    for (const { value } of await this.#list(servicePrefix)) {
      const { spec, metadata } = parseStored('core/v1.Service', value)
      for (const key of heldKeys(spec, this.addressPrefix)) {
        if (this.#isAddress(key) && !taken.has(nameIn(key))) await this.#create(key, holderOf(metadata))
      }
    }
  }

  async #create(key: string, holder: Holder): Promise<boolean> {
    const writeId = this.#options.draws.writeId()
    const value = this.#valueOf(key, holder, writeId)
    const outcome = await this.#options.storage.commit({ key, expected: 0, conditions: [], value, writeId })
    return outcome.kind === 'written'
  }

  #valueOf(key: string, holder: Holder, writeId: string): Uint8Array {
    const name = nameIn(key)
    if (this.#addresses !== undefined && this.#isAddress(key)) return encodeAddress(name, holder, writeId, this.#addresses)
    const { uid } = holder
    const encoded = encodeObject({ kind: 'Reservation', metadata: { name, uid } })
    return encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs: 0, encoded, labels: {}, fields: {} })
  }

  #isAddress(key: string): boolean {
    return key.startsWith(`${this.addressPrefix}/`)
  }

  /** The value with which a reservation names its holder. */
  #holderIn(key: string, value: Uint8Array): string | undefined {
    return this.#addresses !== undefined && this.#isAddress(key) ? parentOf(value, this.#options.names) : uidIn(value)
  }

  #textOf(key: string, { uid, namespace, name }: Holder): string {
    return this.#addresses !== undefined && this.#isAddress(key) ? `${namespace}/${name}` : uid
  }

  /** Frees a key only from its own holder. */
  async free(key: string, holder: Holder): Promise<void> {
    const { storage } = this.#options
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    if (entry !== undefined && this.#holderIn(key, entry.value) === this.#textOf(key, holder)) await this.#remove(key, entry.revision)
  }

  /** Like `free`, but leaves a failure to the sweep: the write stays done, and a refusal keeps its reason. */
  async freeAll(keys: readonly string[], holder: Holder): Promise<void> {
    for (const key of keys) {
      try {
        await this.free(key, holder)
      } catch (error) {
        this.#options.log.warn({ err: error, key }, 'a reservation could not be released')
      }
    }
  }

  /** The parsed objects of a kind, which are few. */
  async objectsBelow<Name extends TypeName>(prefix: string, type: Name): Promise<BuiltIn<Name>[]> {
    return (await this.#list(prefix)).map(({ value }) => parseStored(type, value))
  }

  async namesBelow(prefix: string): Promise<Set<string>> {
    return new Set((await this.#list(prefix)).map(({ key }) => key.slice(prefix.length + 1)))
  }

  close(): void {
    this.#sweep.close()
  }

  /** Unless another holder has it meanwhile. */
  async #remove(key: string, revision: Revision): Promise<void> {
    await this.#options.storage.commit({ key, expected: revision, conditions: [], writeId: this.#options.draws.writeId() })
  }

  async #list(resource: string) {
    const entries: Entry[] = []
    for await (const page of listEntries(this.#options.storage, { resource })) entries.push(...page)
    return entries
  }

  /** True if reservations without a Service remain. */
  async #sweepOnce(): Promise<boolean> {
    const reserved = [...(await this.#list(this.addressPrefix)), ...(await this.#list(portPrefix))]
    if (reserved.length === 0) return false
    const held = new Set<string>()
    for (const { value } of await this.#list(servicePrefix)) {
      const service = parseStored('core/v1.Service', value)
      const holder = holderOf(service.metadata)
      for (const key of heldKeys(service.spec, this.addressPrefix)) held.add(`${key} ${this.#textOf(key, holder)}`)
    }
    const now = this.#options.clock.monotonic()
    const orphans = new Map<string, number>()
    for (const { key, value, revision } of reserved) {
      const holder = this.#holderIn(key, value)
      if (holder === undefined || held.has(`${key} ${holder}`)) continue
      const orphan = `${key} ${revision}`
      const since = this.#orphans.get(orphan) ?? now
      orphans.set(orphan, since)
      if (now - since >= this.#orphanMs) await this.#remove(key, revision)
    }
    this.#orphans = orphans
    return orphans.size > 0
  }
}

/** The last part of a key. */
export function nameIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** A Service as the holder of reservations. */
export function holderOf({ uid = '', namespace = '', name = '' }: ApiObject['metadata']): Holder {
  return { uid, namespace, name }
}

function uidIn(value: Uint8Array): string {
  const { metadata }: Pick<ApiObject, 'metadata'> = JSON.parse(Buffer.from(value).toString())
  return metadata.uid ?? ''
}
