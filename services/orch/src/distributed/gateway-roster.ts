import type { GatewayAddress } from '@orch/controllers'
import { listEntries, type StorageService } from '@orch/core/contracts'
import { encodeObject, encodeStored, schemaFingerprint } from '@orch/core/stored'
import { sleep } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'

export interface GatewayRosterOptions extends Pick<Surroundings, 'clock' | 'log'> {
  readonly storage: StorageService
  /** This gateway's own. */
  readonly own: GatewayAddress
  /** Draws the id of a write. */
  readonly writeId: () => string
  /** Called with all gateways, sorted, at each renewal. */
  readonly onGateways: (gateways: readonly GatewayAddress[]) => Promise<void>
}

/** Storage prefix of the entries, which no request can address. */
const prefix = 'gateways'
/** Expiry of an entry in storage: three missed renewals. */
const entryLifeMs = 15_000
const renewalIntervalMs = 5_000

/** A roster of gateways: one entry in storage for each, which expires after its gateway has ended. */
export function createGatewayRoster({ storage, own, clock, writeId: drawWriteId, log, onGateways }: GatewayRosterOptions) {
  const name = printAddress(own)
  const key = `${prefix}/${name}`
  const ending = new AbortController()
  let keeping: Promise<void> | undefined
  const enter = async () => {
    const writeId = drawWriteId()
    const encoded = encodeObject({ kind: 'Gateway', metadata: { name } })
    const expiresAtMs = clock.now() + entryLifeMs
    const value = encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs, encoded, labels: {}, fields: {} })
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    await storage.commit({ key, expected: entry?.revision ?? 0, conditions: [], value, writeId })
  }
  const renew = async () => {
    await enter()
    await onGateways(await list(storage))
  }
  const keep = async () => {
    for (;;) {
      await sleep(clock, renewalIntervalMs, ending.signal, { background: true })
      if (ending.signal.aborted) return
      await renew().catch((error: unknown) => {
        if (!ending.signal.aborted) log.warn({ err: error }, 'the entry of this gateway could not be renewed')
      })
    }
  }
  return {
    /** Registers this gateway and reports all; rejects if storage refuses. */
    renew,
    /** Renews until the roster is closed. */
    keep() {
      keeping ??= keep()
    },
    /** Removes this gateway. */
    async close() {
      ending.abort()
      await keeping
      await leave(storage, key, drawWriteId()).catch((error: unknown) =>
        log.debug({ err: error }, 'the entry of this gateway is left to expire'),
      )
    },
  }
}

async function leave(storage: StorageService, key: string, writeId: string): Promise<void> {
  const { entry } = await storage.get({ key, read: { kind: 'latest' } }, { timeoutMs: renewalIntervalMs })
  if (entry === undefined) return
  await storage.commit({ key, expected: entry.revision, conditions: [], writeId }, { timeoutMs: renewalIntervalMs })
}

async function list(storage: StorageService): Promise<GatewayAddress[]> {
  const names: string[] = []
  for await (const page of listEntries(storage, { resource: prefix })) names.push(...page.map(({ key }) => key.slice(prefix.length + 1)))
  return names.sort().map(parseAddress)
}

/** The port first, as an address may contain colons. */
function printAddress({ address, port }: GatewayAddress): string {
  return `${port}_${address}`
}

function parseAddress(name: string): GatewayAddress {
  const cut = name.indexOf('_')
  return { port: Number(name.slice(0, cut)), address: name.slice(cut + 1) }
}
