import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Client } from '@orch/client'
import {
  type ControllerName,
  type ControllersOptions,
  createControllers,
  startControllers,
  type UntilNeeded,
  type WatchedCollection,
} from '@orch/controllers'
import { foregroundFinalizer, orphanFinalizer } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { type Clock, type Metrics, workqueueMetricsOf } from '@orch/platform'
import type { Storage } from '@orch/storage'
import type { Surroundings } from '../surroundings.ts'

/** Identity of a part of the server. */
export interface Identity {
  readonly name: string
  readonly groups: readonly string[]
}

/** The identity of the part that creates the bootstrap objects. */
export const serverIdentity: Identity = { name: 'system:apiserver', groups: ['system:masters'] }

/** Prefix of node user names. */
export const nodeUserPrefix = 'system:node:'

export interface ControllersParts extends ControllersOptions {
  readonly controllers: readonly ControllerName[]
  clientAs(identity: Identity): Client
  readonly metrics: Metrics
  /** Undefined if the controllers may have work from the start. */
  readonly untilNeeded?: UntilNeeded | undefined
}

/** Controllers that run. */
export interface RunningControllers {
  /** True if no controller has a pending timer. Work in progress is counted by the clock. */
  isWithoutTimers(): boolean
  /** Does work while no controller runs; then they restart. */
  pausing<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when such work is done; undefined if there is none. */
  paused(): Promise<void> | undefined
}

/** Runs the controllers, each with its own identity. */
export async function runControllers(parts: ControllersParts, surroundings: Surroundings): Promise<RunningControllers> {
  const { clientAs, metrics } = parts
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const { names } = catalogue
  const options = {
    controllers: await createControllers(parts.controllers, parts, surroundings),
    clientFor: (name: ControllerName) => clientAs(identityOf(names, name)),
    names,
    clock,
    random: chance.stream('controllers').fraction,
    log,
    queues: workqueueMetricsOf(metrics, clock),
    untilNeeded: parts.untilNeeded,
  }
  let running = startControllers(options)
  let isStopped = false
  lifecycle.onStop('controllers', () => {
    isStopped = true
    // A controller waits for answers that a fault holds.
    surroundings.faults?.clear()
    return running.stop()
  })
  let last: Promise<void> | undefined
  const pause = async <T>(work: () => Promise<T>): Promise<T> => {
    await running.stop()
    try {
      return await work()
    } finally {
      if (!isStopped) running = startControllers(options)
    }
  }
  return {
    isWithoutTimers: () => running.isWithoutTimers(),
    pausing(work) {
      const done = (last ?? Promise.resolve()).then(() => pause(work))
      const ended = Promise.allSettled([done]).then(() => {
        if (last === ended) last = undefined
      })
      last = ended
      return done
    },
    paused: () => last,
  }
}

/** The scheduler: a separate user, with the role of a kube-scheduler. */
export const schedulerIdentity: Identity = { name: 'system:kube-scheduler', groups: [] }

/** The user of a controller's requests. */
export function identityOf(names: Names, controller: ControllerName): Identity {
  if (controller === 'scheduler') return schedulerIdentity
  return isServer.has(controller) ? serverIdentity : controllerIdentity(names, controller)
}

/** Controllers that act as the server itself, as no bootstrap role has their rights. */
const isServer: ReadonlySet<ControllerName> = new Set([
  'bootstrap',
  'customresourcedefinition',
  'flow-control',
  'leader-election',
  'serviceaccount-token',
  'legacy-serviceaccount-token-cleaner',
])

function controllerIdentity(names: Names, controller: ControllerName): Identity {
  const group = 'system:serviceaccounts'
  return {
    name: `system:serviceaccount:${names.systemNamespace}:${accounts[controller] ?? `${controller}-controller`}`,
    groups: [group, `${group}:${names.systemNamespace}`],
  }
}

const accounts: Partial<Record<ControllerName, string>> = {
  'garbage-collector': 'generic-garbage-collector',
  tokencleaner: 'token-cleaner',
  bootstrapsigner: 'bootstrap-signer',
  serviceaccount: 'service-account-controller',
  'root-ca-cert-publisher': 'root-ca-cert-publisher',
  replicationcontroller: 'replication-controller',
  resourceclaim: 'resource-claim-controller',
  csrapproving: 'certificate-controller',
  csrsigning: 'certificate-controller',
  csrcleaner: 'certificate-controller',
  daemonset: 'daemon-set-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler',
  nodeipam: 'node-controller',
  nodelifecycle: 'node-controller',
  podgc: 'pod-garbage-collector',
  'persistentvolume-binder': 'persistent-volume-binder',
  'persistentvolume-expander': 'expand-controller',
  'taint-eviction': 'node-controller',
  'simulated-provisioner': 'persistent-volume-binder',
  'vac-protection': 'volumeattributesclass-protection-controller',
}

/** The first requests of clients to a new server precede those of controllers. In real time. */
const usualDelayMs = 50

interface NeedsOptions extends Pick<Surroundings, 'catalogue' | 'clock'> {
  readonly storage: Storage
  /** A revision at which no controller had work; undefined if each may have work from the start. */
  readonly restingSince: number | undefined
}

/**
 * Starts controllers with their first work, which the changes of the storage in this process show, so that idle controllers have no caches and no
 * watches. Controllers that may have work from the start begin after a pause, or with the first change of what they watch.
 */
export function untilNeededIn({ storage, catalogue, clock, restingSince }: NeedsOptions): UntilNeeded {
  const prefixOf = ({ resource: { group, version, plural }, select }: WatchedCollection) => {
    const prefix = catalogue.find(group, version, plural)?.stored.prefix
    return prefix === undefined || select?.namespace === undefined ? prefix : `${prefix}/${select.namespace}`
  }
  /** The storage prefixes of the collections. Empty for all: also if a kind is not in the catalogue, as its prefix is unknown. */
  const prefixesOf = (collections: readonly WatchedCollection[] = []) => {
    const prefixes = collections.map(prefixOf).filter((prefix) => prefix !== undefined)
    return prefixes.length < collections.length ? [] : prefixes
  }
  const untilWork: UntilNeeded = async (need, signal) => {
    if (need.kind === 'change')
      return restingSince === undefined ? undefined : changed(storage, { after: restingSince, resources: [] }, signal)
    if (need.kind === 'owners') return untilOwners({ storage, clock, restingSince, signal })
    if (need.kind === 'object') {
      const prefix = prefixOf({ resource: need.of })
      return prefix === undefined ? undefined : untilObject(storage, prefix, signal)
    }
    const own = need.own && prefixOf({ resource: need.own })
    if (own !== undefined && !storage.hasObjects(own)) return untilObject(storage, own, signal)
    const resources = prefixesOf(need.watched)
    if (restingSince !== undefined) return changed(storage, { after: restingSince, resources }, signal)
    await delayStart(clock, signal, (ending) => changed(storage, { after: undefined, resources }, ending))
  }
  // If the storage cannot be read, there may be work.
  return (need, signal) => untilWork(need, signal).catch(() => undefined)
}

/** Resolves when an object has the prefix, or when the signal aborts. */
async function untilObject(storage: Storage, prefix: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const after = await loadedRevision(storage)
    if (storage.hasObjects(prefix)) return
    // A restore ends the stream of changes, and may bring the object.
    await changed(storage, { after, resources: [prefix] }, signal)
  }
}

/** The present revision. While the state is read anew, it waits, or rejects. */
async function loadedRevision(storage: Storage): Promise<number> {
  return (await storage.get({ key: '', read: { kind: 'any' } })).revision
}

interface AskedChanges {
  /** A revision. By default the present one. */
  readonly after: number | undefined
  /** Storage prefixes; empty for all. */
  readonly resources: readonly string[]
}

/** Resolves at the first change of these resources after a revision, or when the signal aborts. */
async function changed(storage: Storage, { after, resources }: AskedChanges, signal: AbortSignal): Promise<void> {
  const request = { epoch: '', after: after ?? (await storage.status({})).revision, resources: [...resources] }
  for await (const { kind } of storage.changes(request, { signal })) if (kind !== 'position') return
}

/** The metadata of an object in its served form. */
interface Served {
  readonly value: Uint8Array
  readonly metadataStart: number
  readonly metadataEnd: number
}

const ownerMembers = ['"ownerReferences":', `"${foregroundFinalizer}"`, `"${orphanFinalizer}"`]

/** True for an object with owners, or whose deletion waits for its dependants. Rarely also for another object with such a text in its metadata. */
function hasOwners({ value, metadataStart, metadataEnd }: Served): boolean {
  const metadata = Buffer.from(value.buffer, value.byteOffset + metadataStart, metadataEnd - metadataStart)
  return ownerMembers.some((member) => metadata.includes(member))
}

type Owned = Pick<NeedsOptions, 'storage' | 'clock' | 'restingSince'> & { readonly signal: AbortSignal }

/** Resolves when an object has owners, or when the signal aborts. */
async function untilOwners({ storage, clock, restingSince, signal }: Owned): Promise<void> {
  if (restingSince === undefined) await delayStart(clock, signal)
  // If objects have owners, removed objects and new kinds give work, too.
  else await changed(storage, { after: restingSince, resources: [] }, signal)
  while (!signal.aborted) {
    const after = await loadedRevision(storage)
    clock.work?.begin(search)
    const isFound = await anyHasOwners(storage, signal).finally(() => clock.work?.end(search))
    // A restore ends the stream, and may bring objects.
    if (isFound || (await changedWithOwners(storage, after, signal))) return
  }
}

/** The name of the work in progress, for clocks that wait for it. */
const search = 'search for owners'

async function anyHasOwners(storage: Storage, signal: AbortSignal): Promise<boolean> {
  for (const resource of storage.objectCounts().keys()) {
    const request = { scope: { resource }, selection: { labels: [], fields: [] }, read: { kind: 'any' }, limit: 0, start: '' } as const
    for await (const part of storage.list({ ...request, layout: 'entries' }, { signal })) {
      if (part.kind !== 'entries') continue
      if (part.entries.some(hasOwners)) return true
      await setImmediate()
    }
  }
  return false
}

/** True after a change of an object with owners; false if the stream of changes ends before. */
async function changedWithOwners(storage: Storage, after: number, signal: AbortSignal): Promise<boolean> {
  for await (const part of storage.changes({ epoch: '', after, resources: [] }, { signal })) {
    if (part.kind === 'expired') return false
    if (part.kind === 'changes' && part.changes.some((change) => change.after !== undefined && hasOwners(change.after))) return true
  }
  return false
}

/** Waits for the first requests of clients, or until there is work. */
async function delayStart({ work }: Clock, signal: AbortSignal, untilWork?: (signal: AbortSignal) => Promise<void>): Promise<void> {
  if (signal.aborted) return
  const ending = new AbortController()
  const waiting = AbortSignal.any([signal, ending.signal])
  work?.begin('start of controllers')
  const ends = [setTimeout(usualDelayMs, undefined, { signal: waiting }), ...(untilWork === undefined ? [] : [untilWork(waiting)])]
  await Promise.race(ends).catch(() => undefined)
  ending.abort()
  await Promise.allSettled(ends)
  work?.end('start of controllers')
}
