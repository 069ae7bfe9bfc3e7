import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'

/**
 * Small controllers, each in a common wrong form and in the correct form. Their objects are ConfigMaps: `wanted` states the goal, and the controllers
 * make the others.
 */
export interface Controller {
  /** One pass of the controller's loop. The test calls it as often as the controller would. */
  pass(): Promise<void>
}

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const leases = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true }
const inDefault = { namespace: 'default' }
const children = { ...inDefault, labelSelector: 'of=wanted' }

export interface Wanted extends ApiObject {
  readonly data?: Readonly<Record<string, string>>
}

const maps = (client: Client) => client.resource<Wanted>(configMaps)
const isReason = (reason: string) => (error: unknown) => (error as { readonly reason?: string }).reason === reason

function aChild(metadata: { readonly name: string } | { readonly generateName: string }): Wanted {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, ...inDefault, labels: { of: 'wanted' } } }
}

/** Repeats a step after any error, like work queues. */
async function retried(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let left = times; ; left -= 1) {
    try {
      await work()
      return
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

export const creating = {
  /** Wrong: repeats a failed create under another name. */
  badly: (client: Client): Controller => ({ pass: () => retried(3, () => maps(client).create(aChild({ generateName: 'child-' }))) }),
  /** Correct: decides the name once and counts a taken name as success. */
  well: (client: Client): Controller => ({
    pass: () =>
      retried(3, () =>
        maps(client)
          .create(aChild({ name: 'child-0' }))
          .catch((error: unknown) => {
            if (!isReason('AlreadyExists')(error)) throw error
          }),
      ),
  }),
}

async function mark(client: Client): Promise<void> {
  const wanted = await maps(client).get('wanted', inDefault)
  await maps(client).update({ ...wanted, data: { ...wanted.data, marked: 'yes' } })
}

export const marking = {
  /** Wrong: takes a conflict for another client's success. */
  badly: (client: Client): Controller => ({
    pass: () =>
      mark(client).catch((error: unknown) => {
        if (!isReason('Conflict')(error)) throw error
      }),
  }),
  /** Correct: reads the object again after a conflict. */
  well: (client: Client): Controller => ({ pass: () => retried(5, () => mark(client)) }),
}

const fillWith = (client: Client, resourceVersion: string | undefined): Controller => ({
  async pass() {
    const there = await maps(client).list({ ...children, resourceVersion })
    for (let count = there.items.length; count < 3; count += 1) await maps(client).create(aChild({ generateName: 'child-' }))
  },
})

export const filling = {
  /** Wrong: counts the objects in its cache. */
  badly: (client: Client): Controller => fillWith(client, '0'),
  /** Correct: counts the present objects. */
  well: (client: Client): Controller => fillWith(client, undefined),
}

const forceOn = (client: Client, version: (object: Wanted) => string | undefined): Controller => ({
  pass: () =>
    retried(1, async () => {
      const { metadata, ...rest } = await maps(client).get('wanted', { ...inDefault, resourceVersion: '0' })
      const { resourceVersion: _read, ...own } = metadata
      const given = version({ metadata, ...rest })
      const written = { ...rest, metadata: given === undefined ? own : { ...own, resourceVersion: given } }
      await maps(client).update({ ...written, data: { ...rest.data, marked: 'yes' } })
    }).catch(() => undefined),
})

export const overwriting = {
  /** Wrong: writes a whole old object without the version that it read. */
  badly: (client: Client): Controller => forceOn(client, () => undefined),
  /** Correct: states the version that it read, and leaves the rest to a later pass. */
  well: (client: Client): Controller => forceOn(client, ({ metadata }) => metadata.resourceVersion),
}

export const pruning = {
  /** Wrong: takes an unreadable list for an empty list. */
  badly: (client: Client): Controller => ({
    async pass() {
      const { items: owners } = await maps(client)
        .list({ ...inDefault, labelSelector: 'kind=owner' })
        .catch(() => ({ items: [] }))
      if (owners.length === 0)
        for (const { metadata } of (await maps(client).list(children)).items) await maps(client).delete(metadata.name ?? '', inDefault)
    },
  }),
  /** Correct: deletes no object when the answer is missing. */
  well: (client: Client): Controller => ({
    async pass() {
      const owners = await maps(client)
        .list({ ...inDefault, labelSelector: 'kind=owner' })
        .catch(() => undefined)
      if (owners?.items.length === 0)
        for (const { metadata } of (await maps(client).list(children)).items) await maps(client).delete(metadata.name ?? '', inDefault)
    },
  }),
}

async function count(client: Client): Promise<void> {
  const wanted = await maps(client).get('wanted', inDefault)
  await maps(client).update({ ...wanted, data: { ...wanted.data, steps: String(Number(wanted.data?.['steps'] ?? '0') + 1) } })
}

export const counting = {
  /** Wrong: repeats a step whose answer was lost. */
  badly: (client: Client): Controller => ({ pass: () => retried(3, () => count(client)) }),
  /** Correct: writes the goal, not a step towards it. */
  well: (client: Client): Controller => ({
    pass: () =>
      retried(3, async () => {
        const wanted = await maps(client).get('wanted', inDefault)
        await maps(client).update({ ...wanted, data: { ...wanted.data, steps: '1' } })
      }),
  }),
}

/** A leader that has the lease `leader` from the start. */
const leading = (client: Client, isStill: () => Promise<boolean>): Controller => ({
  async pass() {
    if (await isStill()) await maps(client).create(aChild({ generateName: 'child-' }))
  },
})

export const led = {
  /** Wrong: a leader stays leader although it has lost its lease. */
  badly: (client: Client): Controller => leading(client, async () => true),
  /** Correct: a leader that cannot renew its lease stops. */
  well: (client: Client): Controller =>
    leading(client, async () => {
      const lease = await client.resource(leases).get('leader', inDefault)
      return client
        .resource(leases)
        .update(lease)
        .then(
          () => true,
          () => false,
        )
    }),
}

/** The names of all children; a watch keeps the list. */
export interface Mirror {
  readonly names: ReadonlySet<string>
  /** Resolves when the watch has ended for good. */
  readonly ended: Promise<void>
}

interface MirrorOptions {
  readonly listsAgain: boolean
  readonly watchesAgain: boolean
}

function mirrorOf(client: Client, signal: AbortSignal, { listsAgain, watchesAgain }: MirrorOptions): Mirror {
  const names = new Set<string>()
  const run = async () => {
    let resourceVersion = ''
    for (let round = 0; !signal.aborted && (round === 0 || watchesAgain); round += 1) {
      try {
        if (resourceVersion === '') {
          const list = await maps(client).list(children)
          if (listsAgain || round === 0) names.clear()
          for (const { metadata } of list.items) names.add(metadata.name ?? '')
          resourceVersion = list.metadata.resourceVersion ?? ''
        }
        for await (const { type, object } of await maps(client).watch({ ...children, resourceVersion, signal })) {
          resourceVersion = object.metadata.resourceVersion ?? ''
          if (type === 'DELETED') names.delete(object.metadata.name ?? '')
          else if (type !== 'BOOKMARK') names.add(object.metadata.name ?? '')
        }
      } catch (error) {
        if ((error as { readonly code?: unknown }).code === 410) resourceVersion = ''
      }
    }
  }
  return { names, ended: run() }
}

/** Wrong: after an expired watch it adds the listed objects and keeps the objects that were deleted meanwhile. */
export const mirrorThatAdds = (client: Client, signal: AbortSignal) => mirrorOf(client, signal, { listsAgain: false, watchesAgain: true })
/** Wrong: does not restart an ended watch. */
export const mirrorThatEnds = (client: Client, signal: AbortSignal) => mirrorOf(client, signal, { listsAgain: true, watchesAgain: false })
/** Correct: watches again, and lists anew if its version has expired. */
export const mirrorThatStays = (client: Client, signal: AbortSignal) => mirrorOf(client, signal, { listsAgain: true, watchesAgain: true })

/** The longest time that a test waits for a pass that may never end. */
const stuckMs = 100

async function markWith(client: Client, signal?: AbortSignal): Promise<void> {
  const wanted = await maps(client).get('wanted', { ...inDefault, signal })
  await maps(client).update({ ...wanted, data: { ...wanted.data, marked: 'yes' } }, { signal })
}

export const waiting = {
  /** Wrong: a request without a time limit stops the loop for good. */
  badly: (client: Client): Controller => ({
    pass: () => Promise.race([markWith(client), new Promise<void>((resolve) => setTimeout(resolve, stuckMs))]),
  }),
  /** Correct: gives up a request that takes too long, and repeats it. */
  well: (client: Client): Controller => ({
    pass: () => markWith(client, AbortSignal.timeout(stuckMs)).catch(() => markWith(client, AbortSignal.timeout(60_000))),
  }),
}

const sizeOf = (client: Client, size: string) => maps(client).patch('wanted', { data: { size } }, { ...inDefault, type: 'merge' })

const markWithin = (client: Client, ms: number) => markWith(client, AbortSignal.timeout(ms))

export const reconnecting = {
  /** Wrong: repeats a slow request on the same connection, which may be dead. */
  badly: (connect: () => Promise<Client>): Controller => ({
    async pass() {
      const client = await connect()
      await retried(2, () => markWithin(client, stuckMs)).catch(() => undefined)
      client.close()
    },
  }),
  /** Correct: each attempt opens a new connection. */
  well: (connect: () => Promise<Client>): Controller => ({
    pass: () =>
      retried(5, async () => {
        const client = await connect()
        await markWithin(client, 500).finally(client.close)
      }),
  }),
}

export const resizing = {
  /** Wrong: does not wait for a write before it sends the next. */
  badly: (client: Client): Controller => ({
    async pass() {
      await Promise.all([sizeOf(client, '1'), new Promise((resolve) => setImmediate(resolve)).then(() => sizeOf(client, '2'))])
    },
  }),
  /** Correct: sends one write after the other. */
  well: (client: Client): Controller => ({
    async pass() {
      await sizeOf(client, '1')
      await sizeOf(client, '2')
    },
  }),
}

const remove = (client: Client) => maps(client).delete('child-0', inDefault)

export const removing = {
  /** Wrong: takes any error of a delete for a deleted object. */
  badly: (client: Client): Controller => ({ pass: () => remove(client).then(undefined, () => undefined) as Promise<void> }),
  /** Correct: only NotFound means deleted; other errors are repeated. */
  well: (client: Client): Controller => ({
    pass: () =>
      retried(3, () =>
        remove(client).catch((error: unknown) => {
          if (!isReason('NotFound')(error)) throw error
        }),
      ),
  }),
}

const manyChildren = Array.from({ length: 10 }, (_, number) => aChild({ name: `child-${number}` }))

/** The create whose answer was lost has taken the name. */
async function ensure(client: Client, child: Wanted): Promise<void> {
  await maps(client)
    .create(child)
    .catch((error: unknown) => {
      if (!isReason('AlreadyExists')(error)) throw error
    })
}

export const deploying = {
  /** Wrong: the first error ends the pass for all later objects. */
  badly: (client: Client): Controller => ({
    async pass() {
      try {
        for (const child of manyChildren) await ensure(client, child)
      } catch {
        // The pass has ended.
      }
    },
  }),
  /** Correct: repeats each step. */
  well: (client: Client): Controller => ({
    async pass() {
      for (const child of manyChildren) await retried(8, () => ensure(client, child))
    },
  }),
}

export const throttled = {
  /** Wrong: repeats a refused request at once, again and again. */
  badly: (client: Client): Controller => ({
    pass: () => retried(30, () => ensure(client, aChild({ name: 'child-0' }))).catch(() => undefined),
  }),
  /** Correct: waits longer each time, and leaves the rest to a later pass. */
  well: (client: Client): Controller => ({
    async pass() {
      for (let pauseMs = 1; pauseMs < 10; pauseMs *= 3) {
        try {
          return await ensure(client, aChild({ name: 'child-0' }))
        } catch {
          await new Promise((resolve) => setTimeout(resolve, pauseMs))
        }
      }
    },
  }),
}

/** Creates up to three children according to a cache that a watch keeps. */
function fillByMirror(client: Client, signal: AbortSignal, remembers: boolean): Controller {
  const mirror = mirrorThatStays(client, signal)
  const made = new Set<string>()
  return {
    async pass() {
      const known = new Set([...mirror.names, ...(remembers ? made : [])])
      for (let count = known.size; count < 3; count += 1) {
        const { metadata } = await maps(client).create(aChild({ generateName: 'child-' }))
        made.add(metadata.name ?? '')
      }
    },
  }
}

export const fillingByCache = {
  /** Wrong: counts the objects in its cache, which lacks the last creates. */
  badly: (client: Client, signal: AbortSignal): Controller => fillByMirror(client, signal, false),
  /** Correct: remembers created objects until the cache shows them. */
  well: (client: Client, signal: AbortSignal): Controller => fillByMirror(client, signal, true),
}

/** Marks `wanted`, and creates a child once its cache of children is as new as the mark. */
function createAfterMark(client: Client, signal: AbortSignal, waitsFor: (bookmark: Promise<void>) => Promise<void>): Controller {
  return {
    async pass() {
      const { metadata } = await maps(client).list(children)
      const watch = await maps(client).watch({
        ...children,
        resourceVersion: metadata.resourceVersion ?? '',
        allowWatchBookmarks: true,
        signal,
      })
      const marked = await maps(client).patch('wanted', { data: { marked: 'yes' } }, { ...inDefault, type: 'merge' })
      const isNewer = (revision = '') => Number(revision) >= Number(marked.metadata.resourceVersion)
      const bookmark = async () => {
        for await (const { object } of watch) if (isNewer(object.metadata.resourceVersion)) return
      }
      await waitsFor(bookmark())
      await ensure(client, aChild({ name: 'child-0' }))
    },
  }
}

export const confirming = {
  /** Wrong: only a bookmark tells it that its cache is new enough. */
  badly: (client: Client, signal: AbortSignal): Controller => createAfterMark(client, signal, (bookmark) => bookmark),
  /** Correct: reads the present objects if no bookmark comes. */
  well: (client: Client, signal: AbortSignal): Controller =>
    createAfterMark(client, signal, (bookmark) =>
      Promise.race([
        bookmark,
        new Promise((resolve) => setTimeout(resolve, stuckMs)).then(async () => void (await maps(client).list(children))),
      ]),
    ),
}
