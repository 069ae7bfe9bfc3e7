import type { ResourceAddress } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { requireType } from '@orch/core/schema'
import { claimNameOf, isMadeFor, type Pod } from '@orch/core/workloads'
import { type Controller, type ControllerContext, loopsTogether } from '../controller.ts'
import { startCollectionInformer } from '../informers/collection-informer.ts'
import { type Protection, protectionController } from './protection.ts'
import { unusedClaims } from './unused-claims.ts'

interface ClaimProtectionOptions {
  /** True if the level has the condition Unused for bound claims. */
  readonly isUseShown: boolean
}

/** Releases claims under deletion once no pod uses them. */
export function claimProtectionController({ isUseShown }: ClaimProtectionOptions): Controller {
  const protection = protectionController('pvc-protection', createClaimProtection)
  return isUseShown ? loopsTogether(protection, unusedClaims) : protection
}

const pods: ResourceAddress = { group: '', version: 'v1', plural: 'pods', namespaced: true }

/** Pods are watched only in namespaces with a waiting claim, so that other namespaces cost nothing. */
function createClaimProtection(): Protection {
  const watched = new Map<string, WatchedPods>()
  return {
    plural: 'persistentvolumeclaims',
    finalizer: 'pvc-protection',
    async isInUse(claim, context, again) {
      const { name = '', namespace = '' } = claim.metadata
      const isUsed = () => isUsedByPods(context, claim)
      if (await isUsed()) {
        const { waiting, synced } = waitForPods(watched, context, namespace)
        waiting.set(name, again)
        await synced
        // The watch has no event for a Pod that was deleted before it began.
        if (await isUsed()) return true
      }
      stopWaiting(watched, namespace, name)
      return false
    },
  }
}

/** The pods of a namespace, and the claims that wait for them. */
interface WatchedPods {
  readonly ending: AbortController
  readonly waiting: Map<string, () => void>
  /** Resolves when the pods are watched. */
  readonly synced: Promise<unknown>
}

async function isUsedByPods({ client, signal }: ControllerContext, claim: ApiObject): Promise<boolean> {
  const { namespace = '' } = claim.metadata
  const { items } = await client.resource<Pod>(pods).listAll({ namespace, signal })
  return items.some((pod) => uses(pod, claim))
}

function waitForPods(watched: Map<string, WatchedPods>, context: ControllerContext, namespace: string): WatchedPods {
  const known = watched.get(namespace)
  if (known !== undefined) return known
  const { ending, waiting } = { ending: new AbortController(), waiting: new Map<string, () => void>() }
  const { synced, done } = startCollectionInformer<Pod>(context, {
    resource: pods,
    select: { namespace },
    signal: AbortSignal.any([ending.signal, context.signal]),
    onEvent: ({ kind, object }) => {
      if (kind !== 'deleted' && !isShutDown(object)) return
      for (const [claim, again] of waiting) if (namingVolumes(object, claim).length > 0) again()
    },
  })
  const started = { ending, waiting, synced: Promise.race([synced, done]) }
  watched.set(namespace, started)
  return started
}

function stopWaiting(watched: Map<string, WatchedPods>, namespace: string, claim: string): void {
  const known = watched.get(namespace)
  known?.waiting.delete(claim)
  if (known === undefined || known.waiting.size > 0) return
  known.ending.abort()
  watched.delete(namespace)
}

/**
 * A pod uses its claims from its scheduling until its deletion, finished or not: before that no node has seen it, and no node starts a pod whose claim
 * is under deletion. The claim of an ephemeral volume is used until the pod is shut down.
 */
function uses(pod: Pod, claim: ApiObject): boolean {
  if ((pod.spec.nodeName ?? '') === '') return false
  const isOwn = isMadeFor(requireType('core/v1.PersistentVolumeClaim', claim), pod) && !isShutDown(pod)
  return namingVolumes(pod, claim.metadata.name).some(({ persistentVolumeClaim }) => persistentVolumeClaim != null || isOwn)
}

function namingVolumes(pod: Pod, claim: string | undefined) {
  return (pod.spec.volumes ?? []).filter((volume) => claimNameOf(pod, volume) === claim)
}

/** Its node has stopped it, or it was deleted by force. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp != null && metadata['deletionGracePeriodSeconds'] === 0
}
