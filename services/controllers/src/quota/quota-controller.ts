import { type Informer, type InformerEvent, type ResourceAddress, unlessRefused } from '@orch/client'
import { type Catalogue, countingOf, resourceCountedBy } from '@orch/core/catalogue'
import { type ApiObject, zeroQuantity } from '@orch/core/meta'
import { type Amounts, addAmounts, maskAmounts, parseAmounts, printAmounts, quotaManager, sameAmounts, usageIn } from '@orch/core/quota'
import type { BuiltIn } from '@orch/core/schema'
import { createWorkqueue, sleep, type Workqueue } from '@orch/platform'
import { startCollectionInformer } from '../informers/collection-informer.ts'
import { type Controller, type ControllerContext, done, keyOf, mapped, own, reconciler, requeueAfter } from '../reconciler/index.ts'

export type ServedResources = Pick<Catalogue, 'resources'>

type Quota = BuiltIn<'core/v1.ResourceQuota'>

/** Delay of the second check of a difference, as writes in progress are already counted but not visible yet. */
const differingMs = 1_000
/** Maximum number of collections listed at once, and the time until the next one starts. */
const beginningMax = 4
const beginningMs = 1_000
/** Interval of complete recounts, with or without changes. */
const resyncMs = 300_000

const quotas = own<Quota>('v1', 'resourcequotas', {
  // A status by admission may count a write that is not visible yet: counting again at once would revert it.
  delayMs: ({ kind, object }) => (kind === 'updated' && showsLimits(object) ? differingMs : 0),
})

/** Maintains the status of quotas: the limits and the usage. It watches only counted objects, in the namespaces of the quotas. */
export function quotaController(catalogue: ServedResources): Controller {
  return reconciler<Quota>('resourcequota', (context, loop) => {
    const counted = new CountedObjects(context, catalogue, (namespace, kind) => {
      for (const quota of loop.read(quotas).inNamespace(namespace)) {
        // A new object has been counted when it was admitted.
        loop.wake(keyOf(quota), kind === 'added' ? differingMs : 0)
      }
    })
    const limits = mapped<Quota>('v1', 'resourcequotas', (_event, caches) => {
      counted.keepOnly([...caches.read(quotas).values()])
      return []
    })
    return {
      watches: [quotas, limits],
      watchesMore: true,
      workersMax: 2,
      reconcile: async ({ object: quota, world, signal }) => {
        if (quota.metadata.deletionTimestamp != null) return done
        const used = counted.use(quota)
        if (signal.aborted || used === undefined || isKept(quota, used)) return requeueAfter(resyncMs, { background: true })
        const status = { hard: quota.spec?.hard ?? {}, used: printAmounts(used) }
        // After a conflict with a status by admission, too, the next pass waits until its writes are visible.
        await unlessRefused(['Conflict'], () => world.writeStatus(quota, status, quotaManager(context.names)))
        return requeueAfter(differingMs)
      },
      close: () => counted.close(),
    }
  })
}

function isKept(quota: Quota, used: Amounts): boolean {
  return showsLimits(quota) && sameAmounts(parseAmounts(quota.status?.used), used)
}

/** True if the status has the current limits. */
function showsLimits({ spec, status }: Quota): boolean {
  if (status?.hard === undefined || status.used === undefined) return false
  return sameAmounts(parseAmounts(status.hard), parseAmounts(spec?.hard))
}

/** The objects that quotas count. */
interface CountedCollection {
  readonly namespace: string
  readonly resource: ResourceAddress
  readonly ending: AbortController
  /** Undefined until all of them are loaded. */
  informer: Informer<ApiObject> | undefined
}

/** Reports a change of one object, or that a collection has been listed. */
type OnChange = (namespace: string, kind: InformerEvent<ApiObject>['kind'] | 'synced') => void

/**
 * The objects that quotas count. Each collection is watched only while a quota of its namespace counts it. The queue is specific: its keys are
 * collections, and a few are listed at once.
 */
class CountedObjects {
  readonly #context: ControllerContext
  readonly #addresses = new Map<string, ResourceAddress>()
  readonly #onChange: OnChange
  readonly #counted = new Map<string, CountedCollection>()
  /** Slots for starting watches, which are limited. */
  readonly #beginning: Workqueue

  constructor(context: ControllerContext, { resources }: ServedResources, onChange: OnChange) {
    this.#context = context
    this.#onChange = onChange
    this.#beginning = createWorkqueue({
      name: 'resourcequota-collections',
      metrics: context.queues,
      work: (place) => this.#beginCount(place),
      onError: (place, error) => context.log.debug({ place, err: error }, 'a collection that a quota counts could not be listed yet'),
      clock: context.clock,
      random: context.random,
      signal: context.signal,
      workersMax: beginningMax,
    })
    for (const { group, version, plural, isNamespaced, verbs } of resources) {
      const key = `${group}/${plural}`
      const isCounted = isNamespaced && verbs.includes('list') && verbs.includes('watch')
      if (isCounted && !this.#addresses.has(key)) this.#addresses.set(key, { group, version, plural, namespaced: true })
    }
  }

  /** The usage of a quota; undefined until it is known, and then a change follows. */
  use({ spec = {}, metadata: { namespace = '' } }: Quota): Amounts | undefined {
    const { names, clock } = this.#context
    const hard = parseAmounts(spec.hard)
    let used: Amounts = new Map([...maskAmounts(hard, this.#countableNames(hard))].map(([name]) => [name, zeroQuantity]))
    const counted = [...this.#resourcesOf(hard)].map(([key, address]) => this.#countCollection(key, address, namespace))
    for (const { resource, informer } of counted) {
      if (informer === undefined) return undefined
      const counting = countingOf(names, { group: resource.group, resource: resource.plural })
      for (const object of informer.values()) used = addAmounts(used, usageIn({ spec, hard }, counting, object, clock.now()))
    }
    return used
  }

  /** Stops watching resources that no quota counts any longer. */
  keepOnly(all: readonly Quota[]): void {
    const wanted = new Set(
      all.flatMap(({ spec, metadata }) =>
        [...this.#resourcesOf(parseAmounts(spec?.hard)).keys()].map((key) => `${metadata.namespace} ${key}`),
      ),
    )
    for (const [key, { ending }] of this.#counted) {
      if (wanted.has(key)) continue
      ending.abort()
      this.#counted.delete(key)
    }
  }

  async close(): Promise<void> {
    for (const { ending } of this.#counted.values()) ending.abort()
    await this.#beginning.close()
  }

  #countableNames(hard: Amounts): Set<string> {
    const { names } = this.#context
    return new Set([...hard.keys()].filter((name) => resourceCountedBy(names, name) !== undefined))
  }

  #resourcesOf(hard: Amounts): Map<string, ResourceAddress> {
    const found = new Map<string, ResourceAddress>()
    for (const name of hard.keys()) {
      const resource = resourceCountedBy(this.#context.names, name)
      const key = `${resource?.group}/${resource?.resource}`
      const address = this.#addresses.get(key)
      if (address !== undefined) found.set(key, address)
    }
    return found
  }

  #countCollection(key: string, resource: ResourceAddress, namespace: string): CountedCollection {
    const place = `${namespace} ${key}`
    const known = this.#counted.get(place)
    if (known !== undefined) return known
    const begun = { namespace, resource, ending: new AbortController(), informer: undefined }
    this.#counted.set(place, begun)
    this.#beginning.add(place)
    return begun
  }

  /** Watches the collection unless no quota counts it any more. */
  async #beginCount(place: string): Promise<void> {
    const counted = this.#counted.get(place)
    if (counted === undefined) return
    const { namespace, resource, ending } = counted
    const signal = AbortSignal.any([ending.signal, this.#context.signal])
    const onEvent = ({ kind }: InformerEvent<ApiObject>) => this.#onChange(namespace, kind)
    const informer = startCollectionInformer(this.#context, { resource, select: { namespace }, signal, onEvent })
    const synced = informer.synced.then(() => {
      counted.informer = informer
      this.#onChange(namespace, 'synced')
    })
    const turn = new AbortController()
    const patience = sleep(this.#context.clock, beginningMs, turn.signal)
    await Promise.race([synced, informer.done, patience])
    turn.abort()
  }
}
