import { isOfEndingNamespace, unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { printTime, StatusError, toInstant } from '@orch/core/meta'
import {
  type EndpointNames,
  type Endpoints,
  endpointNames,
  endpointsLabels,
  equalLabels,
  type Pod,
  type Service,
  subsetsOf,
  TriggerTimes,
  truncated,
} from '@orch/core/workloads'
import { aboutObject, type Controller, done, keyOf, mapped, own, type Result, reconciler, type World } from '../reconciler/index.ts'
import { retriesMax, workloadBackoff } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'
import { endpointHashAt, podsOf, selects, servicesOfPod } from './service-pods.ts'

/** The key of the initial pass for Endpoints whose Service is gone. No Service has this key. */
const leftoversKey = ''

/** Maintains the Endpoints of each Service with a selector. */
export function endpointsController({ level }: ServedLevel): Controller {
  return reconciler<Service>('endpoint', ({ names }, loop) => {
    const services = own<Service>('v1', 'services')
    const pods = mapped<Pod>('v1', 'pods', (event, caches) => servicesOfPod(event, caches.read(services)), { isLazy: true })
    // Manually deleted Endpoints are created again.
    const endpoints = mapped<Endpoints>('v1', 'endpoints', ({ kind, object }) => (kind === 'deleted' ? [keyOf(object)] : []))
    const times = new TriggerTimes()
    const ofLevel = endpointNames(names)
    return {
      watches: [services, pods, endpoints],
      backoff: { ...workloadBackoff, retriesMax },
      keys: [leftoversKey],
      absent: async ({ key, world, signal }) => {
        if (key === leftoversKey) {
          const isLeft = (one: Endpoints) => world.read(services).get(keyOf(one)) === undefined && !isOfElection(one, ofLevel)
          for (const one of world.read(endpoints).values()) if (isLeft(one)) loop.wake(keyOf(one))
          return done
        }
        times.forget(key)
        const left = world.read(endpoints).get(key)
        const { name = '', namespace } = left?.metadata ?? {}
        if (left !== undefined) await unlessGone(() => world.collection(endpoints).delete(name, { namespace, signal }))
        return done
      },
      reconcile: async ({ key, object: service, world, signal }) => {
        if (!selects(service, level)) return done
        const matching = podsOf(service, world.read(pods))
        const draft = draftOf(service, matching, {
          live: world.read(endpoints).get(key),
          changedMs: times.changedMs(key, service, matching),
          names: ofLevel,
          level,
        })
        return draft === undefined ? done : writeEndpoints(service, draft, { world, write: (object) => write(world, object, signal) })
      },
    }

    async function write(world: World, object: Endpoints, signal: AbortSignal): Promise<void> {
      const collection = world.collection(endpoints)
      if (object.metadata.resourceVersion === undefined) await collection.create(object, { signal })
      else await collection.update(object, { signal })
    }
  })
}

/** Endpoints for leader election have no Service. */
function isOfElection({ metadata: { annotations } }: Endpoints, { leader }: EndpointNames): boolean {
  return annotations?.[leader] !== undefined
}

interface DraftOptions {
  readonly live: Endpoints | undefined
  readonly changedMs: number | undefined
  readonly names: EndpointNames
  readonly level: number
}

/** The Endpoints to write; undefined if they are up to date. */
function draftOf(service: Service, pods: readonly Pod[], { live, changedMs, names, level }: DraftOptions): Endpoints | undefined {
  const all = subsetsOf(service, pods, { level, hash: endpointHashAt(level) })
  const cut = truncated(all)
  const subsets = cut ?? all
  const labels = endpointsLabels(service, names, level)
  const { [names.triggerTime]: _, [names.overCapacity]: storedCapacity, ...kept } = live?.metadata.annotations ?? {}
  const isSame =
    live !== undefined &&
    jsonEqual(live.subsets ?? [], subsets) &&
    equalLabels(live.metadata.labels, labels, names) &&
    (storedCapacity !== undefined) === (cut !== undefined)
  if (isSame) return undefined
  const annotations = {
    ...kept,
    ...(changedMs !== undefined && { [names.triggerTime]: printTime(toInstant(changedMs)) }),
    ...(cut !== undefined && { [names.overCapacity]: 'truncated' }),
  }
  const { name, namespace } = service.metadata
  const metadata = { ...(live?.metadata ?? { name, namespace }), labels, annotations }
  return { apiVersion: 'v1', kind: 'Endpoints', metadata, ...(subsets.length > 0 && { subsets }) }
}

interface Writing {
  readonly world: World
  write(object: Endpoints): Promise<void>
}

/** A write from an outdated cache is retried without an event, and a terminating namespace accepts no writes. */
async function writeEndpoints({ metadata }: Service, draft: Endpoints, { world, write }: Writing): Promise<Result> {
  try {
    await write(draft)
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason === 'Conflict' || error.reason === 'AlreadyExists') throw error
    if (isOfEndingNamespace(error)) return done
    const { namespace, name = '' } = metadata
    const [reason, text] =
      draft.metadata.resourceVersion === undefined
        ? ['FailedToCreateEndpoint', `Failed to create endpoint for service ${namespace}/${name}`]
        : ['FailedToUpdateEndpoint', `Failed to update endpoint ${namespace}/${name}`]
    world.record(aboutObject({ apiVersion: 'v1', kind: 'Endpoints' }, draft), {
      type: 'Warning',
      reason,
      message: `${text}: ${error.message}`,
    })
    throw error
  }
  return done
}
