import type { StorageService } from '@orch/core/contracts'
import type { ApiObject, Revision } from '@orch/core/meta'
import { parseStored, requireType } from '@orch/core/schema'
import { encodeObject, encodeStored, schemaFingerprint } from '@orch/core/stored'
import { type Clock, type Log, usualAddress } from '@orch/platform'
import type { Draws } from '../request/draws.ts'

/** Storage prefixes of reservations; no path leads to them. */
export const addressPrefix = 'allocation/addresses'
export const portPrefix = 'allocation/ports'
export const servicePrefix = 'core/services'

/** A reservation that no Service has is swept after this, and after twice the time of a request, which may still be under way. */
const orphanMsMin = 120_000
const sweepIntervalMs = 30_000

export interface ServicePort {
  readonly name?: string
  readonly port?: number
  readonly nodePort?: number
  readonly [field: string]: unknown
}

/** The members read of a Service. */
export interface ServiceSpec {
  readonly type?: string
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly ports?: readonly ServicePort[]
  readonly allocateLoadBalancerNodePorts?: boolean
  readonly healthCheckNodePort?: number
  readonly externalTrafficPolicy?: string
  readonly ipFamilies?: readonly string[]
  readonly ipFamilyPolicy?: string
  readonly selector?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

export function specOf(object: ApiObject): ServiceSpec {
  return requireType('core/v1.Service', object).spec
}

/** Keys held by a Service. */
export function heldKeys({ type, clusterIP, ports, healthCheckNodePort }: ServiceSpec): string[] {
  if (type === 'ExternalName') return []
  const addresses =
    clusterIP === undefined || clusterIP === '' || clusterIP === 'None' ? [] : [`${addressPrefix}/${usualAddress(clusterIP)}`]
  const nodePorts = [...(ports ?? []).map(({ nodePort }) => nodePort), healthCheckNodePort]
  const portKeys = nodePorts.flatMap((nodePort) => (nodePort ? [`${portPrefix}/${nodePort}`] : []))
  return [...addresses, ...new Set(portKeys)]
}

export interface ReservedKeysOptions {
  readonly storage: StorageService
  readonly clock: Clock
  readonly draws: Pick<Draws, 'address' | 'writeId'>
  readonly log: Log
  readonly requestTimeoutMs: number
}

/** The keys in storage, and the sweep of unused ones. */
export class ReservedKeys {
  readonly #options: ReservedKeysOptions
  readonly #orphanMs: number
  readonly #sweep: { cancel(): void }
  /** Reservations that no Service has, by key and revision, and since when. */
  #orphans = new Map<string, number>()

  constructor(options: ReservedKeysOptions) {
    this.#options = options
    this.#orphanMs = Math.max(orphanMsMin, 2 * options.requestTimeoutMs)
    this.#sweep = options.clock.every(
      sweepIntervalMs,
      () => void this.#sweepOnce().catch((error: unknown) => options.log.warn({ err: error }, 'reservations could not be swept')),
    )
  }

  random(bound: number): number {
    return this.#options.draws.address(bound)
  }

  async isTaken(key: string): Promise<boolean> {
    const { entry } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    return entry !== undefined
  }

  async take(key: string, uid: string): Promise<boolean> {
    const name = key.slice(key.lastIndexOf('/') + 1)
    const writeId = this.#options.draws.writeId()
    const encoded = encodeObject({ kind: 'Reservation', metadata: { name, uid } })
    const value = encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs: 0, encoded, labels: {}, fields: {} })
    const outcome = await this.#options.storage.commit({ key, expected: 0, conditions: [], value, writeId })
    return outcome.kind === 'written'
  }

  /** Frees a key only from its own holder. */
  async free(key: string, uid: string): Promise<void> {
    const { storage } = this.#options
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    if (entry !== undefined && holderOf(entry.value) === uid) await this.#remove(key, entry.revision)
  }

  /** Like `free`, but leaves a failure to the sweep: the write stays done, and a refusal keeps its own reason. */
  async freeAll(keys: readonly string[], uid: string): Promise<void> {
    for (const key of keys) {
      try {
        await this.free(key, uid)
      } catch (error) {
        this.#options.log.warn({ err: error, key }, 'a reservation could not be released')
      }
    }
  }

  async namesBelow(prefix: string): Promise<Set<string>> {
    return new Set((await this.#list(prefix)).map(({ key }) => key.slice(prefix.length + 1)))
  }

  close(): void {
    this.#sweep.cancel()
  }

  /** Unless it is another's meanwhile. */
  async #remove(key: string, revision: Revision): Promise<void> {
    await this.#options.storage.commit({ key, expected: revision, conditions: [], writeId: this.#options.draws.writeId() })
  }

  async #list(resource: string) {
    const entries = []
    const listed = this.#options.storage.list({
      scope: { resource },
      selection: { labels: [], fields: [] },
      read: { kind: 'latest' },
      limit: 0,
      start: '',
      layout: 'entries',
    })
    for await (const part of listed) if (part.kind === 'entries') entries.push(...part.entries)
    return entries
  }

  async #sweepOnce(): Promise<void> {
    const reserved = [...(await this.#list(addressPrefix)), ...(await this.#list(portPrefix))]
    if (reserved.length === 0) return
    const held = new Set<string>()
    for (const { value } of await this.#list(servicePrefix)) {
      const service = parseStored('core/v1.Service', value)
      for (const key of heldKeys(service.spec)) held.add(`${key} ${service.metadata.uid}`)
    }
    const now = this.#options.clock.monotonic()
    const orphans = new Map<string, number>()
    for (const { key, value, revision } of reserved) {
      if (held.has(`${key} ${holderOf(value)}`)) continue
      const orphan = `${key} ${revision}`
      const since = this.#orphans.get(orphan) ?? now
      orphans.set(orphan, since)
      if (now - since >= this.#orphanMs) await this.#remove(key, revision)
    }
    this.#orphans = orphans
  }
}

function holderOf(value: Uint8Array): string {
  const { metadata }: Pick<ApiObject, 'metadata'> = JSON.parse(Buffer.from(value).toString())
  return metadata.uid ?? ''
}
