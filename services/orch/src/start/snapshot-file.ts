import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { renewalBy } from '@orch/core/stored'
import {
  type CertificateMemory,
  type Chance,
  certificateMemory,
  messageOf,
  SettingsError,
  seededChance,
  systemChance,
  systemCodeOf,
} from '@orch/platform'
import { createMemoryStore, createStorage, parseStore, printStore, storeOf } from '@orch/storage'
import { readGateway } from '../gateway/settings.ts'
import type { SimulatedNodeState } from '../nodes/open.ts'
import type { ServerBase } from '../server.ts'
import { catalogueOf } from '../surroundings.ts'
import { readStartSettings, type StartOptions, type StartSettings } from './start-settings.ts'
import type { NamedUser } from './user.ts'
import type { OpenEndpoint, WebhookEndpoint } from './webhook-endpoint.ts'

/** The first line of a file: these words, the format version and the SHA-256 of the rest. */
const magic = 'orch-snapshot'
const formatVersion = 2
/** Format 1 has changes without times and users. */
const formatsRead: ReadonlySet<number> = new Set([1, formatVersion])

/** The part of a file before the store. */
interface Described extends Pick<ServerBase, 'port' | 'authorities'> {
  readonly options: StartOptions
  readonly certificates: readonly (readonly [string, string])[]
  readonly nodes: readonly SimulatedNodeState[]
  readonly users: readonly NamedUser[]
}

/**
 * Writes a snapshot to a file that only its owner can read, because it contains keys: JSON of the server, a line break, then the compressed store.
 * Omits the clock, the log, `random`, webhook handlers and the position of a seed.
 */
export async function writeMoment({ base, origin }: Moment, path: string): Promise<void> {
  if (origin.settings.encryptionProviderConfig !== '')
    throw new SettingsError(`${path}: a server with --encryption-provider-config is not saved to a file: its values are encrypted`)
  const store = storeOf(base.snapshot)
  if (store === undefined) throw new Error(`${path}: only a server in memory is saved to a file`)
  const { clock: _clock, log: _log, random: _random, webhooks: _webhooks, from: _from, ...options } = origin.options
  const { port, authorities } = base
  const { nodes, users } = origin
  const described: Described = { port, authorities, options, certificates: [...origin.certificates.texts], nodes, users }
  const body = await promisify(gzip)(Buffer.concat([Buffer.from(`${JSON.stringify(described)}\n`), printStore(store)]), { level: 1 })
  const draft = `${path}.partial`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(draft, [`${magic} ${formatVersion} ${digestOf(body)}\n`, body], { mode: 0o600 })
  await rename(draft, path)
}

/** Reads a file of `writeMoment`. Rejects with an explanation for any other file. */
export async function readMoment(path: string): Promise<Moment> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Error(`${path}: cannot be read (${systemCodeOf(cause) ?? messageOf(cause)})`, { cause })
  })
  const lineEnd = bytes.indexOf(10)
  const [words, version, digest] = bytes.toString('latin1', 0, Math.max(lineEnd, 0)).split(' ')
  if (words !== magic) throw new Error(`${path}: is no snapshot: expected a file that snapshot.save() has written`)
  if (!formatsRead.has(Number(version)))
    throw new Error(`${path}: has format ${version}; this version reads formats ${[...formatsRead].join(' and ')}`)
  const body = bytes.subarray(lineEnd + 1)
  if (digest !== digestOf(body)) throw new Error(`${path}: is damaged: its content is not what was written; save the snapshot again`)
  return promisify(gunzip)(body)
    .then(parse)
    .catch((cause: unknown) => {
      throw new Error(`${path}: cannot be read: ${messageOf(cause)}`, { cause })
    })
}

async function parse(content: Buffer): Promise<Moment> {
  const lineEnd = content.indexOf(10)
  const described: Described = JSON.parse(content.toString('utf8', 0, lineEnd))
  const { options, port, authorities, certificates, nodes, users } = described
  const store = createMemoryStore({ from: parseStore(content.subarray(lineEnd + 1)) })
  const settings = readStartSettings(options)
  const reencode = renewalBy(catalogueOf(readGateway(settings).api))
  const storage = await createStorage({ store, reencode, profile: options.profile ?? 'orch' })
  const snapshot = storage.snapshot()
  storage.close()
  await store.close()
  const chance = options.seed === undefined ? systemChance : seededChance(options.seed).stream(`after revision ${snapshot.revision}`)
  const files = certificateMemory(certificates)
  const origin = { options, settings, certificates: files, chance, nodes, users, endpoint: undefined, endpoints: [] }
  return { base: { snapshot, port, authorities }, origin }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The parts of a base that a fork takes over in addition to the stored objects. */
export interface Origin {
  /** The options with which the base started. */
  readonly options: StartOptions
  /** The settings by these options. */
  readonly settings: StartSettings
  readonly certificates: CertificateMemory
  /** Continues the base's sequence of random values. */
  readonly chance: Chance
  readonly nodes: readonly SimulatedNodeState[]
  readonly users: readonly NamedUser[]
  /** Endpoint for webhooks that are installed later. */
  readonly endpoint: WebhookEndpoint | undefined
  /** Endpoints of the installed webhooks. */
  readonly endpoints: readonly OpenEndpoint[]
}

/** A server's snapshot, and all further parts that a fork takes from it. */
export interface Moment {
  readonly base: ServerBase
  readonly origin: Origin
}
