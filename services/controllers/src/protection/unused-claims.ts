import { printTime, toInstant, withCondition } from '@orch/core/meta'
import { claimNameOf, isMadeFor, isUsing, type Pod, type VolumeClaim } from '@orch/core/workloads'
import { type Controller, done, mapped, own, reconciler } from '../reconciler/index.ts'

const claims = own<VolumeClaim>('v1', 'persistentvolumeclaims', { isDue: ({ kind }) => kind !== 'deleted' })

/** Pods by the names of their claims. */
const pods = mapped<Pod>(
  'v1',
  'pods',
  ({ object }) => {
    const names = (object.spec.volumes ?? []).map((volume) => claimNameOf(object, volume)).filter((name) => name !== undefined)
    return names.map((name) => `${object.metadata.namespace}/${name}`)
  },
  { isLazy: true },
)

/** The condition Unused of bound claims: True while no Pod refers to them (WL-PV-11). */
export const unusedClaims: Controller = reconciler<VolumeClaim>('pvc-protection', () => ({
  watches: [claims, pods],
  queue: 'unused_claims',
  reconcile: async ({ object: claim, world, clock }) => {
    if (claim.metadata.deletionTimestamp != null || claim.status.phase !== 'Bound') return done
    const isUsed = [...world.read(pods).inNamespace(claim.metadata.namespace)].some((pod) => uses(pod, claim))
    return world.writeStatus(claim, withUse(claim, isUsed, clock.now()))
  },
}))

function uses(pod: Pod, claim: VolumeClaim): boolean {
  if (!isUsing(pod, claim)) return false
  const isNamed = pod.spec.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === claim.metadata.name) === true
  return isNamed || isMadeFor(claim, pod)
}

function withUse({ status }: VolumeClaim, isUsed: boolean, nowMs: number): VolumeClaim['status'] {
  const [type, value] = ['Unused', isUsed ? 'False' : 'True']
  if (status.conditions?.find((condition) => condition.type === type)?.status === value) return status
  const cause = isUsed
    ? { reason: 'PodUsingPVC', message: 'A pod is currently referencing this PVC' }
    : { reason: 'NoPodsUsingPVC', message: 'No pods are currently referencing this PVC' }
  const lastTransitionTime = printTime(toInstant(nowMs))
  return {
    ...status,
    conditions: withCondition(status.conditions, { type, status: value, ...cause, lastProbeTime: null, lastTransitionTime }),
  }
}
