import type { ResourceAddress } from '@orch/client'
import type { ApiObject } from '@orch/core'
import type { ControllerContext } from '../controller.ts'
import { followCollection } from '../follow-collection.ts'
import { type Protection, protectionController } from './protection.ts'

/** Lets claims go that are being deleted once no pod uses them. */
export const claimProtectionController = protectionController(createClaimProtection, 'pvc-protection')

const pods: ResourceAddress = { group: '', version: 'v1', plural: 'pods', namespaced: true }

/** Pods are followed only in namespaces where a claim waits for them, so that all others cost nothing. */
function createClaimProtection(): Protection {
  const watched = new Map<string, WatchedPods>()
  return {
    controller: 'pvc-protection',
    resource: { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespaced: true },
    finalizer: 'pvc-protection',
    async isInUse({ metadata: { name = '', namespace = '' } }, context, again) {
      const isUsed = () => isUsedByPods(context, namespace, name)
      if (await isUsed()) {
        const { waiting, synced } = waitForPods(watched, context, namespace)
        waiting.set(name, again)
        await synced
        // A pod that has gone before the following began is told by nobody.
        if (await isUsed()) return true
      }
      stopWaiting(watched, namespace, name)
      return false
    },
    close() {
      for (const { ending } of watched.values()) ending.abort()
    },
  }
}

/** The pods of a namespace, and the claims that wait for them. */
interface WatchedPods {
  readonly ending: AbortController
  readonly waiting: Map<string, () => void>
  /** Resolves when the pods are followed. */
  readonly synced: Promise<unknown>
}

async function isUsedByPods({ client, signal }: ControllerContext, namespace: string, claim: string): Promise<boolean> {
  const { items } = await client.resource<Pod>(pods).listAll({ namespace, signal })
  return items.some((pod) => !hasEnded(pod) && names(pod, claim))
}

function waitForPods(watched: Map<string, WatchedPods>, context: ControllerContext, namespace: string): WatchedPods {
  const known = watched.get(namespace)
  if (known !== undefined) return known
  const { ending, waiting } = { ending: new AbortController(), waiting: new Map<string, () => void>() }
  const { synced, done } = followCollection<Pod>(context, {
    resource: pods,
    select: { namespace },
    signal: AbortSignal.any([ending.signal, context.signal]),
    onEvent: ({ kind, object }) => {
      if (kind !== 'deleted' && !hasEnded(object)) return
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

interface Pod extends ApiObject {
  readonly spec?: {
    readonly volumes?: readonly {
      readonly name?: string
      readonly persistentVolumeClaim?: { readonly claimName?: string }
      readonly ephemeral?: unknown
    }[]
  }
  readonly status?: { readonly phase?: string }
}

/** The claim of an ephemeral volume is named after the pod and the volume. */
function names({ spec, metadata }: Pod, claim: string): boolean {
  return (spec?.volumes ?? []).some(
    ({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName === claim || (ephemeral != null && `${metadata.name}-${name}` === claim),
  )
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded'
}
