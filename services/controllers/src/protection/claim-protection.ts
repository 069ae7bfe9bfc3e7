import type { ResourceAddress } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
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
      for (const [claim, again] of waiting) if (names(object, claim)) again()
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

type Pod = BuiltIn<'core/v1.Pod'>
type Volume = BuiltIn<'core/v1.Volume'>

/**
 * A pod uses its claims from its scheduling until its deletion, finished or not: before that no node has seen it, and no node starts a pod whose claim
 * is under deletion. The claim of an ephemeral volume is used until the pod is shut down.
 */
function uses(pod: Pod, { metadata }: ApiObject): boolean {
  const { name = '', ownerReferences = [] } = metadata
  if ((pod.spec?.nodeName ?? '') === '') return false
  const isOwn = ownerReferences.some(({ uid, controller }) => controller === true && uid === pod.metadata.uid)
  return (pod.spec?.volumes ?? []).some((volume) => refersTo(volume, name) || (isOwn && !isShutDown(pod) && isMadeFor(pod, volume, name)))
}

function names(pod: Pod, claim: string): boolean {
  return (pod.spec?.volumes ?? []).some((volume) => refersTo(volume, claim) || isMadeFor(pod, volume, claim))
}

function refersTo({ persistentVolumeClaim }: Volume, claim: string): boolean {
  return persistentVolumeClaim?.claimName === claim
}

/** The claim of an ephemeral volume is named after the pod and the volume. */
function isMadeFor({ metadata }: Pod, { name, ephemeral }: Volume, claim: string): boolean {
  return ephemeral != null && `${metadata.name}-${name}` === claim
}

/** Its node has stopped it, or it was deleted by force. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp != null && metadata['deletionGracePeriodSeconds'] === 0
}
