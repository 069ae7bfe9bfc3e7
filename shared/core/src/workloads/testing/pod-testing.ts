import type { Pod } from '../pods.ts'

export const costAnnotation = 'example.com/pod-deletion-cost'

/** A Pod described by a few words. Times are seconds before now. */
export interface PodWords {
  readonly name?: string
  readonly uid?: string
  readonly labels?: Readonly<Record<string, string>>
  /** The uid of its controller. Default: none. */
  readonly controller?: string | undefined
  readonly node?: string
  readonly phase?: string
  readonly isDeleted?: boolean
  readonly isReady?: boolean
  /** Default: not ready, unless `isReady` is set. */
  readonly readySeconds?: number | undefined
  readonly createdSeconds?: number
  readonly restarts?: number
  readonly cost?: string
}

/** A Pod as controllers see it. */
export function aPod(words: PodWords, nowMs: number): Pod {
  const {
    name = 'p',
    uid = name,
    labels,
    controller,
    node,
    phase = 'Running',
    isDeleted,
    readySeconds,
    createdSeconds = 60,
    restarts,
    cost,
  } = words
  const { isReady = readySeconds !== undefined } = words
  const timeOf = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString().replace('.000Z', 'Z')
  const lastTransitionTime = readySeconds === undefined ? null : timeOf(readySeconds)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'team',
      uid,
      creationTimestamp: timeOf(createdSeconds),
      ...(labels && { labels }),
      ...(isDeleted === true && { deletionTimestamp: timeOf(0) }),
      ...(cost !== undefined && { annotations: { [costAnnotation]: cost } }),
      ...(controller !== undefined && {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: controller, controller: true }],
      }),
    },
    spec: { containers: [], ...(node !== undefined && node !== '' && { nodeName: node }) },
    status: {
      phase,
      conditions: isReady ? [{ type: 'Ready', status: 'True', lastTransitionTime, lastProbeTime: null }] : [],
      containerStatuses:
        restarts === undefined
          ? []
          : [{ name: 'c', image: 'i', imageID: '', ready: isReady, restartCount: restarts, state: {}, lastState: {} }],
    },
  }
}
