import { setImmediate as turnEnd } from 'node:timers/promises'
import type { DiscoveredResource, InformerEvent } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { automanagedLabel, domainGroup } from '@orch/core/names'
import { createWorkqueue, onAbort, sleep, type Timer, TurnBudget } from '@orch/platform'
import type { Controller, ControllerContext } from '../controller.ts'
import { startCollectionInformer } from '../informers/collection-informer.ts'
import { type Collection, collect } from './collect.ts'
import { Graph, type Node } from './graph.ts'
import { reflectMetadata } from './metadata-reflector.ts'
import { createReporter } from './misplaced-owner.ts'
import type { Identity } from './objects.ts'
import { Owners } from './owners.ts'

const workersMax = 20
const discoveryRetryMs = 1_000
/** Reflectors opened in one turn, so that requests need not wait. */
const reflectorsPerTurn = 4
/** Lines of all watches read in one turn of the event loop: some milliseconds. */
const linesPerTurn = 200
/** The name of the work in progress, for clocks that wait for it. */
const startWork = 'start of the garbage collector'

/**
 * Deletes objects that have lost all their owners, and processes deletions with a propagation policy: foreground waits for dependants, orphan releases
 * them. From the first such object on it watches every resource that has objects, but stores only objects that have owners or are being deleted.
 *
 * It is no reconciler: its keys are uids of objects of all kinds, its cache is a graph of metadata read as bytes, and its watches change
 * with discovery. So it has queues of its own.
 */
export const garbageCollector: Controller = {
  name: 'garbage-collector',
  async run(context) {
    const { signal, queues, clock, random, log } = context
    await context.untilNeeded?.({ kind: 'owners' }, signal)
    if (signal.aborted) return
    const resources = (await discover(context)).resources
    const elsewhere = await servedElsewhere(context)
    const owners = new Owners(context, resources)
    const graph = new Graph()
    const listings = new Listings()
    const turn = lineTurns(context)
    onAbort(signal, listings.end)
    const queue = createWorkqueue({
      name: 'garbage-collector',
      metrics: queues,
      work: async (uid) => {
        // An object has no dependants only if every resource with objects has been listed.
        await listings.done()
        if ((await reactions.isStillDue(uid)) && !signal.aborted) await collect(uid, collection)
      },
      onError: (uid, error) => log.debug({ uid, err: error }, 'an object will be checked again'),
      clock,
      random,
      signal,
      workersMax,
    })
    const enqueue = (uid: string) => queue.add(uid)
    const reactions = createReactions({ graph, owners, enqueue })
    const collection: Collection = { context, graph, owners, report: createReporter(context, owners), dropped: reactions.removed }
    // A remote server may never answer: its objects count from their first report, like those of a later kind.
    const awaited = new Set(resources.filter(({ group, version }) => !elsewhere.has(`${version}.${group}`)))
    const running = new Map<
      string,
      { readonly resource: DiscoveredResource; readonly stop: AbortController; readonly done: Promise<void> }
    >()
    listings.begin(resources)
    clock.work?.begin(startWork)
    for (const [index, resource] of resources.entries()) {
      if (index % reflectorsPerTurn === 0) await turnEnd()
      start(resource)
    }
    // The last resources with objects are being listed in the next turn.
    await turnEnd()
    listings.finish(resources)
    clock.work?.end(startWork)
    await followServed(context, resources, compare)
    await Promise.all([...running.values()].map(({ done }) => done))
    await queue.close()

    function start(resource: DiscoveredResource): void {
      const stop = new AbortController()
      running.set(addressOf(resource), { resource, stop, done: reflect(resource, AbortSignal.any([signal, stop.signal])) })
    }

    /** Watches a resource from its first object on. */
    async function reflect(resource: DiscoveredResource, ending: AbortSignal): Promise<void> {
      await context.untilNeeded?.({ kind: 'object', of: resource }, ending)
      if (ending.aborted) return
      if (awaited.has(resource)) listings.begin(resource)
      await reflectMetadata({ ...reflectorOptions(context, resource), turn, signal: ending, sink: sinkOf(resource) })
    }

    /** Watches newly served resources, and drops unserved ones. */
    async function compare(): Promise<void> {
      const discovery = await discover(context)
      const found = new Map(discovery.resources.map((resource) => [addressOf(resource), resource]))
      // The objects of a group whose server is unreachable still exist.
      const isUnknown = ({ group, version }: DiscoveredResource) =>
        discovery.undiscovered.some((one) => one.group === group && one.version === version)
      for (const [address, { resource, stop }] of running) {
        if (found.has(address) || isUnknown(resource)) continue
        stop.abort()
        running.delete(address)
        resources.splice(resources.indexOf(resource), 1)
        reactions.reported(resource, new Set())
        listings.finish(resource)
      }
      for (const [address, resource] of found) {
        if (running.has(address) || signal.aborted) continue
        resources.push(resource)
        start(resource)
      }
    }

    function sinkOf(resource: DiscoveredResource) {
      return {
        changed: (object: Omit<Node, 'resource'>) => reactions.changed({ ...object, resource }),
        settled: reactions.settled,
        created: (identity: Identity) => owners.setCreated(resource, identity),
        beginning: () => owners.forgetAll(),
        removed: reactions.removed,
        synced: (uids: ReadonlySet<string>) => {
          reactions.reported(resource, uids)
          if (listings.finish(resource)) return
          // Answers received meanwhile may be older than the reports.
          owners.forgetAll()
          reactions.listedAgain(resource)
        },
      }
    }
  },
}

/** The turns in which lines are read. A wait is work in progress. */
function lineTurns({ clock: { work } }: ControllerContext): () => Promise<void> | undefined {
  const lines = new TurnBudget(linesPerTurn)
  return () => {
    const later = lines.take(1)
    if (later !== undefined) work?.begin(startWork)
    return later?.then(() => work?.end(startWork))
  }
}

/** Listings in progress, by what is listed. */
class Listings {
  readonly #open = new Set<object>()
  #done = Promise.withResolvers<void>()
  #isOver = false

  begin(what: object): void {
    this.#open.add(what)
  }

  /** True if the listing was in progress. */
  finish(what: object): boolean {
    const wasOpen = this.#open.delete(what)
    if (wasOpen && this.#open.size === 0) {
      this.#done.resolve()
      this.#done = Promise.withResolvers()
    }
    return wasOpen
  }

  /** Resolves when no listing is in progress, or after `end`. */
  async done(): Promise<void> {
    while (this.#open.size > 0 && !this.#isOver) await this.#done.promise
  }

  /** Ends the waits for listings, which will not finish. */
  readonly end = (): void => {
    this.#isOver = true
    this.#done.resolve()
  }
}

/** A definition may be made again with another kind or scope. */
function addressOf({ group, version, plural, kind, namespaced }: DiscoveredResource): string {
  return [group, version, plural, kind, namespaced].join('/')
}

/** Delay after a change of definitions before discovery is read: discovery covers all groups, and a thousand definitions may change in sequence. */
const gatherMs = 200
/** Another gateway may serve the change of a definition slightly later. */
const compareAgainMs = 1_000
/** A gateway that had lost its connection to storage serves the change seconds later. */
const compareLastMs = 30_000

/** A server of an APIService may add resources at any time. */
const compareEveryMs = 30_000

/** Calls `compare` after each change of the served resources, and at intervals with remote servers, in sequence, until the controller ends. */
async function followServed(
  context: ControllerContext,
  resources: readonly DiscoveredResource[],
  compare: () => Promise<void>,
): Promise<void> {
  const { names, queues, clock, random, log, signal } = context
  const served = (word: string, plural: string) =>
    resources.filter((one) => one.group === domainGroup(names, word) && one.plural === plural)
  const queue = createWorkqueue({
    name: 'garbage-collector-resources',
    metrics: queues,
    work: compare,
    onError: (_, error) => log.debug({ err: error }, 'what is served will be looked at again'),
    clock,
    random,
    signal,
    workersMax: 1,
  })
  let last: Timer | undefined
  const compareSoon = (): void => {
    queue.addAfter('soon', gatherMs)
    queue.addAfter('again', compareAgainMs)
    last?.cancel()
    last = clock.after(compareLastMs, () => queue.add('soon'), { background: true })
  }
  const remotes = new Set<string>()
  let rounds: Timer | undefined
  const followRemote = ({ kind, object }: InformerEvent<ApiObject>): void => {
    compareSoon()
    const { name = '' } = object.metadata
    if (kind === 'deleted') remotes.delete(name)
    else remotes.add(name)
    if (remotes.size > 0) rounds ??= clock.every(compareEveryMs, () => queue.add('soon'))
    else endRounds()
  }
  const endRounds = () => {
    rounds?.cancel()
    rounds = undefined
  }
  // Local APIServices exist for each group version, which definitions already announce.
  const select = { labelSelector: `!${automanagedLabel(names)}` }
  const servedBy = [
    ...served('apiextensions', 'customresourcedefinitions').map((resource) => ({ resource, onEvent: compareSoon })),
    ...served('apiregistration', 'apiservices').map((resource) => ({ resource, select, onEvent: followRemote })),
  ]
  await Promise.all(servedBy.map((followed) => startCollectionInformer(context, { ...followed, isMetadataOnly: true }).done))
  endRounds()
  last?.cancel()
  await queue.close()
}

function reflectorOptions({ client, names, clock, random, log, signal }: ControllerContext, resource: DiscoveredResource) {
  return {
    client,
    resource,
    names,
    signal,
    random,
    sleep: (delayMs: number, ending: AbortSignal) => sleep(clock, delayMs, ending),
    onError: (error: unknown) => log.debug({ err: error, resource: resource.plural }, 'a resource is listed or watched again'),
  }
}

interface Reactants extends Pick<Collection, 'graph' | 'owners'> {
  readonly enqueue: (uid: string) => void
}

/** The objects to enqueue after a change of an object. */
export function createReactions({ graph, owners, enqueue }: Reactants) {
  /** Owners that wait for their dependants are enqueued at every change of a dependant. */
  const notifyWaiting = (node: Node | undefined) => {
    for (const { uid } of node?.owners ?? []) if (graph.get(uid)?.phase === 'foreground') enqueue(uid)
  }
  const enqueueNamers = (uid: string) => {
    for (const namer of graph.namersOf(uid)) enqueue(namer.uid)
  }
  const removed = (uid: string) => {
    const namers = graph.namersOf(uid)
    owners.setGone(uid, namers.length > 0)
    notifyWaiting(graph.remove(uid))
    for (const namer of namers) enqueue(namer.uid)
  }
  /** True if the object may have lost an owner, or if its deletion waits for its dependants. */
  const isDue = (uid: string): boolean => {
    const node = graph.get(uid)
    if (node?.phase !== 'live') return node !== undefined
    return node.owners.some((owner) => {
      if (graph.hasLive(owner, node.namespace)) return false
      return graph.get(owner.uid)?.phase === 'foreground' || !owners.isKnownSolid(owner, node.namespace)
    })
  }
  return {
    /** True if the object is due in the next turn, too: the watch of an owner's kind may be a moment behind that of the object's kind. */
    async isStillDue(uid: string): Promise<boolean> {
      if (isDue(uid)) await turnEnd()
      return isDue(uid)
    },
    changed(node: Node) {
      const before = graph.put(node)
      notifyWaiting(before)
      notifyWaiting(node)
      if (node.phase === 'foreground' && before?.phase !== 'foreground') enqueueNamers(node.uid)
      if (node.phase !== 'deleting' && isDue(node.uid)) enqueue(node.uid)
    },
    settled(uid: string) {
      notifyWaiting(graph.remove(uid))
    },
    removed,
    /** A complete list of a resource shows the objects deleted in the meantime. */
    reported(resource: DiscoveredResource, uids: ReadonlySet<string>) {
      for (const uid of graph.uidsOf(resource)) if (!uids.has(uid)) removed(uid)
    },
    /** The graph may lack some owners deleted in the meantime. */
    listedAgain(resource: DiscoveredResource) {
      for (const uid of graph.uidsOwnedBy(resource)) enqueue(uid)
    },
  }
}

/** The names of the APIServices of remote servers. */
async function servedElsewhere(context: ControllerContext): Promise<ReadonlySet<string>> {
  const apiServices = context.client.resource<ApiObject & { readonly spec?: { readonly service?: object | null } }>({
    group: domainGroup(context.names, 'apiregistration'),
    version: 'v1',
    plural: 'apiservices',
    namespaced: false,
  })
  const found = await insistently(context, 'the APIServices could not be listed', () => apiServices.listAll())
  return new Set(found?.items.filter(({ spec }) => spec?.service).map(({ metadata }) => metadata.name ?? ''))
}

/** All resources whose objects can be watched and deleted, without Events, which expire by themselves. */
async function discover(context: ControllerContext) {
  const found = await insistently(context, 'the resources could not be discovered', () => context.client.discoverAll())
  const isCollected = ({ plural, verbs }: DiscoveredResource) =>
    plural !== 'events' && ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb))
  return { resources: (found?.resources ?? []).filter(isCollected), undiscovered: found?.undiscovered ?? [] }
}

/** Retries until there is an answer; undefined if the controller ends. */
async function insistently<T>({ clock, log, signal }: ControllerContext, problem: string, ask: () => Promise<T>): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await ask()
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, problem)
      await sleep(clock, discoveryRetryMs, signal)
    }
  }
  return undefined
}
