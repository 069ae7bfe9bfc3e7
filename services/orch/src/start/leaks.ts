import { setImmediate } from 'node:timers/promises'
import { type Entry, listEntries } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { Faults } from '@orch/gateway'
import { sleep, systemClock } from '@orch/platform'
import type { Storage } from '@orch/storage'

/** The data that a search for leaks reads. */
export interface LeakParts {
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
