import { unlessGone } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import {
  claimFromTemplate,
  deviceClaimNames,
  deviceClaimOf,
  deviceClaimsIn,
  isDoneWithClaims,
  isFinishedPod,
  isPodConsumer,
  isReservedFor,
  type Pod,
  type PodClaim,
  podOfClaim,
  type ResourceClaim,
  type ResourceClaimTemplate,
  withConsumers,
} from '@orch/core/workloads'
import { loopsTogether } from '../controller.ts'
import { aboutObject, keyOf } from '../informers/object-keys.ts'
import { type Action, done, type Mapped, mapped, own, ownedBy, type ReconcilerSpec, reconciler, type World } from '../reconciler/index.ts'
import { workloadBackoff } from './claims.ts'

const fieldManager = 'ResourceClaimController'

/** Creates device claims of Pods from templates, and releases claims that no Pod uses any longer (WL-SA-02). */
export const resourceClaimController = loopsTogether(
  reconciler<Pod>('resourceclaim', ({ names }) => makeClaims(names)),
  reconciler<ResourceClaim>('resourceclaim', ({ names }) => freeClaims(names)),
)

function makeClaims(names: Names): ReconcilerSpec<Pod> {
  const group = domainGroup(names, 'resource')
  const labels = deviceClaimNames(names)
  const pods = own<Pod>('v1', 'pods', { isDue: ({ kind, object }) => kind !== 'deleted' && (object.spec.resourceClaims ?? []).length > 0 })
  const created = ownedBy<ResourceClaim>(`${group}/v1`, 'resourceclaims', { isLazy: true })
  /** Watches objects that Pods of their namespace refer to. */
  const namedByPods = <T extends ApiObject>(plural: string, isNamed: (pod: Pod, name: string) => boolean): Mapped<T> =>
    mapped<T>(
      `${group}/v1`,
      plural,
      ({ object: { metadata } }, caches) =>
        [...caches.read(pods).inNamespace(metadata.namespace)].filter((pod) => isNamed(pod, metadata.name ?? '')).map(keyOf),
      { isLazy: true },
    )
  const claims = namedByPods<ResourceClaim>('resourceclaims', (pod, claim) => deviceClaimsIn(pod).some(({ name }) => name === claim))
  const templates = namedByPods<ResourceClaimTemplate>(
    'resourceclaimtemplates',
    ({ spec }, template) => spec.resourceClaims?.some((entry) => entry.resourceClaimTemplateName === template) === true,
  )

  /** The name of the new claim for an entry of the Pod. Undefined if the entry has one, or needs none. */
  const makeClaim = async (pod: Pod, entry: PodClaim, world: World, signal: AbortSignal): Promise<string | undefined> => {
    const { namespace, uid } = pod.metadata
    const known = deviceClaimOf(pod, entry)
    if (known.kind === 'none' || !entry.resourceClaimTemplateName) return undefined
    if (known.kind === 'named') {
      const cached = world.read(claims).get(`${namespace}/${known.name}`)
      const claim = cached ?? (await unlessGone(() => world.collection(claims).get(known.name, { namespace, signal })))
      if (claim !== undefined && podOfClaim(claim)?.uid === uid) return undefined
    }
    for (const { metadata } of world.read(claims).controlledBy(uid)) {
      if (metadata.annotations?.[labels.entry] === entry.name) return metadata.name
    }
    const template = world.read(templates).get(`${namespace}/${entry.resourceClaimTemplateName}`)
    if (template === undefined) {
      const quoted = JSON.stringify(entry.resourceClaimTemplateName)
      // The creation of the template enqueues the Pod.
      report(pod, entry, `resource claim template ${quoted}: resourceclaimtemplate.${group} ${quoted} not found`, world)
      return undefined
    }
    let name: string | undefined
    const object = { ...claimFromTemplate(pod, entry, template, labels), apiVersion: `${group}/v1` }
    const creation: Action = {
      kind: 'create',
      in: created,
      object,
      succeeded: ({ metadata }) => {
        name = metadata.name
      },
      refused: (message) => report(pod, entry, `create ResourceClaim : ${message}`, world),
    }
    await world.perform([creation])
    return name
  }

  return {
    watches: [pods, created, claims, templates],
    backoff: workloadBackoff,
    queue: 'resource_claim',
    component: 'resource_claim',
    reconcile: async ({ object: pod, world, signal }) => {
      const { name: podName = '', namespace, deletionTimestamp } = pod.metadata
      if (deletionTimestamp != null || isFinishedPod(pod) || world.isPending) return done
      const made = new Map<string, string>()
      for (const entry of pod.spec.resourceClaims ?? []) {
        const claim = await makeClaim(pod, entry, world, signal)
        if (claim !== undefined) made.set(entry.name, claim)
      }
      if (made.size > 0) {
        const options = { type: 'apply', subresource: 'status', namespace, fieldManager, force: true, signal } as const
        await unlessGone(() => world.collection(pods).patch(podName, withMadeClaims(pod, made), options))
      }
      if (pod.spec.nodeName) await reserveClaims(pod, claims, world, signal)
      return done
    },
  }
}

function report(pod: Pod, entry: PodClaim, why: string, world: World): void {
  const message = `PodResourceClaim ${entry.name}: ${why}`
  world.record(aboutObject({ apiVersion: 'v1', kind: 'Pod' }, pod), { type: 'Warning', reason: 'FailedResourceClaimCreation', message })
}

/** The claim names in the status of a Pod, in the order of its entries' names. */
function withMadeClaims({ metadata, status }: Pod, made: ReadonlyMap<string, string>): object {
  const named = new Map(
    (status.resourceClaimStatuses ?? []).flatMap((one) => (one.resourceClaimName ? [[one.name, one.resourceClaimName]] : [])),
  )
  for (const [entry, claim] of made) named.set(entry, claim)
  const resourceClaimStatuses = [...named]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([entry, claim]) => ({ name: entry, resourceClaimName: claim }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: metadata.name, namespace: metadata.namespace },
    status: { resourceClaimStatuses },
  }
}

/** A Pod with a node set by its creator uses its claims, too. */
async function reserveClaims(pod: Pod, claims: Mapped<ResourceClaim>, world: World, signal: AbortSignal): Promise<void> {
  const { namespace, name: podName = '', uid = '' } = pod.metadata
  for (const { name: claimName } of deviceClaimsIn(pod)) {
    const claim = world.read(claims).get(`${namespace}/${claimName}`)
    if (claim?.status?.allocation == null || isReservedFor(claim, pod)) continue
    const reservedFor = [...(claim.status.reservedFor ?? []), { resource: 'pods', name: podName, uid }]
    await world.collection(claims).update({ ...claim, status: { ...claim.status, reservedFor } }, { subresource: 'status', signal })
  }
}

function freeClaims(names: Names): ReconcilerSpec<ResourceClaim> {
  const labels = deviceClaimNames(names)
  const claims = own<ResourceClaim>(`${domainGroup(names, 'resource')}/v1`, 'resourceclaims', { isDue: ({ kind }) => kind !== 'deleted' })
  const pods = mapped<Pod>(
    'v1',
    'pods',
    ({ kind, object: pod }) =>
      kind === 'deleted' || isDoneWithClaims(pod) ? deviceClaimsIn(pod).map(({ name }) => `${pod.metadata.namespace}/${name}`) : [],
    { isLazy: true },
  )

  const usesStill = async (namespace: string | undefined, consumer: { name: string; uid: string }, world: World, signal: AbortSignal) => {
    const cached = world.read(pods).get(`${namespace}/${consumer.name}`)
    // The scheduler may reserve a claim before the cache shows its Pod.
    const pod = cached ?? (await unlessGone(() => world.collection(pods).get(consumer.name, { namespace, signal })))
    return pod?.metadata.uid === consumer.uid && !(cached && isDoneWithClaims(cached))
  }

  return {
    watches: [claims, pods],
    backoff: workloadBackoff,
    queue: 'resource_claim_users',
    reconcile: async ({ object: claim, world, signal }) => {
      const { name: claimName = '', namespace, finalizers = [], deletionTimestamp } = claim.metadata
      const users = claim.status?.reservedFor ?? []
      const areUsing = await Promise.all(users.map((user) => !isPodConsumer(user) || usesStill(namespace, user, world, signal)))
      const remaining = users.filter((_user, index) => areUsing[index])
      const isLeaving = deletionTimestamp != null && remaining.length === 0 && finalizers.includes(labels.finalizer)
      if (remaining.length < users.length || isLeaving) {
        const status = withConsumers(claim, remaining, labels)
        const freed = await world.replaceStatus(claim, status ?? {})
        const kept = (freed.metadata.finalizers ?? []).filter((one) => one !== labels.finalizer)
        const isHeld = freed.status?.allocation != null || kept.length === finalizers.length
        if (!isHeld) await world.collection(claims).update({ ...freed, metadata: { ...freed.metadata, finalizers: kept } }, { signal })
      }
      const owner = podOfClaim(claim)
      const pod = owner && world.read(pods).get(`${namespace}/${owner.name}`)
      // Garbage collection waits for the deletion of the Pod, which may stay for long after it has finished.
      if (remaining.length > 0 || pod === undefined || (pod.metadata.uid === owner?.uid && !isDoneWithClaims(pod))) return done
      await unlessGone(() => world.collection(claims).delete(claimName, { namespace, signal }))
      return done
    },
  }
}
