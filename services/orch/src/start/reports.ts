import { setImmediate } from 'node:timers/promises'
import { type Entry, type LoggedRequest, listEntries } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { Faults, RequestLog } from '@orch/gateway'
import { SettingsError, sleep, systemClock } from '@orch/platform'
import type { Storage } from '@orch/storage'

/** The data that a search for leaks reads. */
interface LeakParts {
  readonly storage: Pick<Storage, 'list' | 'objectCounts'>
  readonly faults: Faults
  readonly names: Names
  /** Objects without a later change are not the test's. */
  readonly after: number
}

/** The real time until the server notices connections that a test has closed. */
const endsWithinMs = 1_000
const askAgainMs = 5

/** Number of leaks after which a search ends. */
const leaksMax = 1_000

/** Open watches, objects that finalizers hold, remaining namespaces and held leases, one line each. Waits for ends in progress. */
export async function leaksIn(parts: LeakParts): Promise<string[]> {
  const untilMs = systemClock.monotonic() + endsWithinMs
  for (;;) {
    const found = await leaksNow(parts)
    if (found.length === 0 || systemClock.monotonic() > untilMs) return found
    await sleep(systemClock, askAgainMs)
  }
}

async function leaksNow({ storage, faults, names, after }: LeakParts): Promise<string[]> {
  const systems = [names.systemNamespace, names.publicNamespace, names.nodeLeaseNamespace]
  const found = faults.watches.open().map(({ user, path }) => `${user} has an open watch of ${path}`)
  const leases = `${domainGroup(names, 'coordination')}/leases`
  for (const resource of [...storage.objectCounts().keys()].sort()) {
    const isMetadataEnough = ![namespaces, leases].includes(resource)
    const isParsed = (entry: Entry) => entry.revision > after && (!isMetadataEnough || isBeingDeleted(entry))
    for await (const object of listObjects(storage, resource, isParsed)) {
      if (found.length >= leaksMax) return [...found, `the search ended after ${leaksMax} leaks`]
      const { namespace = '', name = '', deletionTimestamp, finalizers = [] } = object.metadata
      const place = `${object.kind} ${namespace === '' ? name : `${namespace}/${name}`}`
      if (deletionTimestamp != null) found.push(`${place} is being deleted, and held by ${finalizers.join(', ') || 'its grace period'}`)
      else if (object.kind === 'Namespace' && !['default', ...systems].includes(name)) found.push(`${place} is still there`)
      const spec = object['spec']
      const holder = resource === leases && isJsonObject(spec) ? spec['holderIdentity'] : undefined
      if (holder && !systems.includes(namespace)) found.push(`${place} is held by ${holder}`)
    }
  }
  return found
}

const namespaces = 'core/namespaces'

/** True if the object may be terminating: its metadata are searched without a parser, since a server may have many large objects. */
function isBeingDeleted({ value, metadataStart, metadataEnd }: Entry): boolean {
  return Buffer.from(value.buffer, value.byteOffset + metadataStart, metadataEnd - metadataStart).includes('"deletionTimestamp":')
}

async function* listObjects(
  storage: LeakParts['storage'],
  resource: string,
  isParsed: (entry: Entry) => boolean,
): AsyncGenerator<ApiObject, void, undefined> {
  for await (const page of listEntries(storage, { resource })) {
    for (const entry of page) if (isParsed(entry)) yield JSON.parse(Buffer.from(entry.value).toString())
    await setImmediate()
  }
}

/** The number of writes without a change to one object that counts as a loop. */
const noopsMin = 3
/** The number of turns of several writers at one object that counts as a loop. */
const turnsMin = 4
/** The number of lists of one resource that counts as a loop. */
const listsMin = 5
/** The number of requests of one user in a second that counts as a loop. */
const perSecondMax = 20

/** The observed requests. */
interface Observation {
  readonly log: Pick<RequestLog, 'total' | 'read' | 'readLast'>
  /** The users of the test. */
  readonly users: readonly string[]
  /** All users of the test by default. */
  readonly user: string | undefined
  readonly ms: number
  /** Resolves after the time of the observation. */
  readonly pass: () => Promise<void>
}

/** Describes the loops during a time, one per line. */
export async function observeHotLoops({ log, users, user, ms, pass }: Observation): Promise<string[]> {
  // A misspelled name would observe nothing.
  if (user !== undefined && !users.includes(user) && log.readLast({ user }, 0, 1).length === 0)
    throw new SettingsError(`${user} has sent no request, and is no user of the test: ${users.join(', ') || 'there is none'}`)
  const observed = user === undefined ? users : [user]
  const from = log.total
  await pass()
  return hotLoopsIn(
    log.read({}, from).filter((request) => observed.includes(request.user)),
    ms / 1_000,
  )
}

/** Describes controllers that never settle, one per line, from the requests of some seconds without other activity. */
export function hotLoopsIn(requests: readonly LoggedRequest[], seconds: number): string[] {
  const byUser = Map.groupBy(requests, ({ user }) => user)
  return [
    ...[...byUser].flatMap(([user, own]) => loopsOfUser(user, own, seconds)),
    ...[...Map.groupBy(requests, placeOf)].flatMap(([place, own]) => quarrelIn(place, own)),
  ]
}

function loopsOfUser(user: string, requests: readonly LoggedRequest[], seconds: number): string[] {
  const found: string[] = []
  for (const [place, own] of Map.groupBy(
    requests.filter(({ noop }) => noop),
    placeOf,
  )) {
    if (own.length >= noopsMin) found.push(`${user} has written ${place} ${own.length} times without a change`)
  }
  for (const [place, own] of Map.groupBy(
    requests.filter(({ verb }) => verb === 'list'),
    placeOf,
  )) {
    if (own.length >= listsMin) found.push(`${user} has listed ${place} ${own.length} times`)
  }
  if (requests.length > perSecondMax * seconds) found.push(`${user} has sent ${requests.length} requests in ${seconds} s`)
  return found
}

/** Finds writers that take turns in changing one object. */
function quarrelIn(place: string, requests: readonly LoggedRequest[]): string[] {
  const writers = requests.filter(({ changed }) => changed).map(({ user, agent }) => (agent === '' ? user : `${user} (${agent})`))
  const turns = writers.filter((writer, index) => index > 0 && writer !== writers[index - 1]).length
  return turns < turnsMin ? [] : [`${place} was changed in turns by ${[...new Set(writers)].sort().join(' and ')}, ${writers.length} times`]
}

function placeOf({ resource, group, subresource, namespace, name, path }: LoggedRequest): string {
  if (resource === '') return path
  const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
  const object = [namespace, name].filter((part) => part !== '').join('/')
  return object === '' ? kind : `${kind} ${object}`
}

/** The sources of a dump. */
export interface DumpOptions {
  readonly storage: Storage
  /** The text of the port that the server listens on. */
  readonly port: string
}

/**
 * All stored data as text: each key with its revision and object in key order, then the retained changes with their revisions. Fixed words replace
 * certificates, token signatures and the server's port.
 */
export async function dumpStorage({ storage, port }: DumpOptions): Promise<string> {
  const { revision, compacted, epoch } = await storage.status({})
  const lines = [`revision ${revision} epoch ${epoch}`]
  for (const resource of [...storage.objectCounts().keys()].sort()) {
    for await (const page of listEntries(storage, { resource }))
      lines.push(...page.map(({ key, revision: at, value }) => `${key} ${at} ${textOf(value, port)}`))
  }
  lines.push(`changes after ${compacted}`)
  if (compacted < revision) {
    for await (const part of storage.changes({ after: compacted, epoch, resources: [] })) {
      if (part.kind !== 'changes') break
      for (const change of part.changes) {
        const what = change.after === undefined ? 'deleted' : textOf(change.after.value, port)
        lines.push(`${change.revision} ${change.key} ${what}`)
      }
      if ((part.changes.at(-1)?.revision ?? 0) >= revision) break
    }
  }
  return `${lines.join('\n')}\n`
}

const certificates = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/g
/** The Base64 form, for Secrets and trust bundles. */
const encodedCertificates = /"LS0tLS1CRUdJTi[A-Za-z0-9+/=]+"/g
const encodedTokens = /"ZXlK[A-Za-z0-9+/=]+"/g

function textOf(value: Uint8Array, port: string): string {
  return Buffer.from(value)
    .toString()
    .replace(certificates, '<certificate>')
    .replace(encodedCertificates, '"<certificate>"')
    .replace(encodedTokens, '"<token>"')
    .replaceAll(`:${port}`, ':<port>')
}
