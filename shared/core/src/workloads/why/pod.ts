import { isFinishedPod, isReadyPod, type Pod } from '../pods.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import { conditionOf, deletionWaits, type Finding, latestEvent, type Wait, type World } from './finding.ts'

type ContainerStatus = NonNullable<Pod['status']['containerStatuses']>[number]

const imageReasons: ReadonlySet<string> = new Set([
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'RegistryUnavailable',
])

/** The reasons why a Pod does not run, is not ready, or is not deleted. */
export function podFinding(pod: Pod, world: World): Finding {
  const { name = '', namespace = '' } = pod.metadata
  const phase = pod.status.phase ?? 'Pending'
  const isReady = isReadyPod(pod)
  const base = { kind: 'Pod', name, namespace }
  if (pod.metadata.deletionTimestamp != null) return { ...base, state: 'Terminating', waits: deletionWaits(pod), parts: [] }
  if (isFinishedPod(pod)) return { ...base, state: phase, waits: phase === 'Failed' ? [failure(pod)] : [], parts: [] }
  const parts = claimsOf(pod, world).map((claim) => claimFinding(claim, world))
  if (isReady) return { ...base, state: 'Running, ready', waits: [], parts }
  const isBound = (pod.spec.nodeName ?? '') !== ''
  const waits = isBound ? containerWaits(pod, world) : placeWaits(pod, world)
  return { ...base, state: phase === 'Running' ? 'Running, not ready' : phase, waits, parts }
}

/** The reasons why a claim has no volume. */
export function claimFinding(claim: VolumeClaim, world: World): Finding {
  const { name = '', namespace = '' } = claim.metadata
  const phase = claim.status.phase ?? 'Pending'
  const base = { kind: 'PersistentVolumeClaim', name, namespace, parts: [] }
  const deletion = deletionWaits(claim)
  if (phase === 'Bound' || deletion.length > 0) return { ...base, state: phase, waits: deletion }
  const event = latestEvent(claim, world)
  const message = event === undefined ? unboundMessage(claim) : `${event.reason}: ${event.message}`
  return { ...base, state: phase, waits: [{ cause: 'claim', message }] }
}

function unboundMessage({ spec, status }: VolumeClaim): string {
  if (status.phase === 'Lost') return `its volume ${spec.volumeName ?? ''} is gone`
  const of = spec.storageClassName == null ? 'without a class' : `of the class "${spec.storageClassName}"`
  return `no volume ${of} has been bound to it`
}

function claimsOf({ metadata, spec }: Pod, { claims }: World): VolumeClaim[] {
  const names = new Set(
    (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim != null ? [persistentVolumeClaim.claimName] : ephemeral != null ? [`${metadata.name}-${name}`] : [],
    ),
  )
  return claims.filter((claim) => claim.metadata.namespace === metadata.namespace && names.has(claim.metadata.name ?? ''))
}

/** An unscheduled Pod waits for gates, for a suitable node, or for a scheduler. */
function placeWaits(pod: Pod, world: World): Wait[] {
  const gates = pod.spec.schedulingGates ?? []
  if (gates.length > 0) {
    const names = gates.map(({ name }) => name).join(', ')
    return [{ cause: 'gate', message: `these scheduling gates must be removed first: ${names}` }]
  }
  const condition = conditionOf(pod, 'PodScheduled', 'False')
  if (condition !== undefined) return [{ cause: 'schedule', message: condition.message ?? '' }]
  const event = latestEvent(pod, world, 'FailedScheduling')
  if (event !== undefined) return [{ cause: 'schedule', message: event.message ?? '' }]
  const scheduler = pod.spec.schedulerName ?? 'default-scheduler'
  return [{ cause: 'schedule', message: `it has no node, and the scheduler "${scheduler}" has not looked at it` }]
}

/** A scheduled Pod waits for its containers, their probes, or conditions of other clients. */
function containerWaits(pod: Pod, world: World): Wait[] {
  const { status } = pod
  const init = status.initContainerStatuses ?? []
  const blocking = init.find(({ ready, started }) => ready !== true && started !== true)
  if (blocking !== undefined) return [containerWait(blocking, world, pod, 'init container')]
  const containers = status.containerStatuses ?? []
  if (containers.length === 0) return [nodeWait(pod, world)]
  const waits = containers.filter(({ ready }) => ready !== true).map((container) => containerWait(container, world, pod, 'container'))
  const gates = (pod.spec.readinessGates ?? []).filter(({ conditionType }) => conditionOf(pod, conditionType, 'True') === undefined)
  for (const { conditionType } of gates) waits.push({ cause: 'gate', message: `its readiness gate ${conditionType} is not True` })
  return waits
}

function nodeWait(pod: Pod, world: World): Wait {
  const event = latestEvent(pod, world)
  const tail = event === undefined || event.type !== 'Warning' ? '' : `: ${event.reason}: ${event.message}`
  return { cause: 'node', message: `the node ${pod.spec.nodeName} has not started its containers${tail}` }
}

function containerWait({ name, state, lastState, restartCount = 0 }: ContainerStatus, world: World, pod: Pod, noun: string): Wait {
  const waiting = state?.waiting
  if (waiting != null) {
    const { reason = 'waiting', message = '' } = waiting
    const ended = lastState?.terminated
    const before = ended == null ? '' : `; it ended ${restartCount} times, the last time with ${endOf(ended)}`
    const cause = imageReasons.has(reason) ? 'image' : reason === 'CrashLoopBackOff' ? 'back-off' : 'container'
    return { cause, message: `${noun} ${name}: ${reason}${message === '' ? '' : `: ${message}`}${before}` }
  }
  if (state?.terminated != null) return { cause: 'container', message: `${noun} ${name} ended with ${endOf(state.terminated)}` }
  if (noun === 'init container') return { cause: 'container', message: `${noun} ${name} has not ended yet` }
  const event = latestEvent(pod, world, 'Unhealthy')
  const tail = event === undefined ? '' : `: ${event.message}`
  return { cause: 'probe', message: `${noun} ${name} runs and is not ready${tail}` }
}

function endOf({ exitCode, reason, message }: { readonly exitCode: number; readonly reason?: string; readonly message?: string }): string {
  const names = [reason, message].filter((text) => text !== undefined && text !== '')
  return `exit code ${exitCode}${names.length === 0 ? '' : ` (${names.join(': ')})`}`
}

function failure({ status }: Pod): Wait {
  const ended = (status.containerStatuses ?? []).find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  const of = ended?.state?.terminated == null ? '' : `container ${ended.name} ended with ${endOf(ended.state.terminated)}`
  const own = [status.reason, status.message].filter((text) => text !== undefined && text !== '').join(': ')
  return { cause: 'failed', message: [own, of].filter((text) => text !== '').join('; ') || 'it has failed' }
}
