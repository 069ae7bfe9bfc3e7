import type { CronJob } from '../cron-job/decide.ts'
import type { DaemonSet } from '../daemon-set/names.ts'
import { annotationNames } from '../deployment/revisions.ts'
import type { Deployment, ReplicaSet } from '../deployment/status.ts'
import { isFinishedJob, type Job } from '../job/pods.ts'
import { isReadyPod, type Pod } from '../pods.ts'
import type { StatefulSet } from '../stateful-set/names.ts'
import {
  conditionOf,
  controllerWaits,
  deletionWaits,
  type Finding,
  latestEvent,
  ownedBy,
  refusal,
  shortened,
  type Wait,
  type World,
} from './finding.ts'
import { podFinding } from './pod.ts'

/** The reasons why the rollout of a Deployment is incomplete. */
export function deploymentFinding(deployment: Deployment, world: World): Finding {
  const { metadata, spec, status } = deployment
  const replicas = spec.replicas ?? 1
  const waits = [...deletionWaits(deployment), ...controllerWaits(deployment)]
  if (spec.paused === true) waits.push({ cause: 'paused', message: 'its rollout is paused' })
  const stalled = conditionOf(deployment, 'Progressing', 'False')
  if (stalled !== undefined && spec.paused !== true) waits.push({ cause: 'deadline', message: stalled.message ?? '' })
  const { revision } = annotationNames(world.names)
  const revisionOf = (set: ReplicaSet) => Number(set.metadata.annotations?.[revision] ?? 0)
  const sets = ownedBy(deployment, world.replicaSets)
    .filter((set) => (set.spec.replicas ?? 1) > 0 || (set.status.replicas ?? 0) > 0)
    .toSorted((one, other) => revisionOf(other) - revisionOf(one))
  const updated = status.updatedReplicas ?? 0
  return {
    kind: 'Deployment',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    state: `${status.availableReplicas ?? 0} of ${replicas} available${updated === replicas ? '' : `, ${updated} updated`}`,
    waits,
    ...shortened(sets.map((set) => replicaSetFinding(set, world))),
  }
}

/** The reasons why a ReplicaSet or ReplicationController has fewer ready Pods than desired. */
export function replicaSetFinding(set: ReplicaSet | World['replicationControllers'][number], world: World, kind = 'ReplicaSet'): Finding {
  const { metadata, spec, status } = set
  const failed = conditionOf(set, 'ReplicaFailure', 'True')
  return {
    kind,
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    state: `${status.readyReplicas ?? 0} of ${spec.replicas ?? 1} ready`,
    waits: [...deletionWaits(set), ...controllerWaits(set), ...(failed === undefined ? [] : [refusal(failed.message ?? '')])],
    ...membersOf(set, world),
  }
}

/** The reasons why a StatefulSet has fewer ready Pods than desired. */
export function statefulSetFinding(set: StatefulSet, world: World): Finding {
  const { metadata, spec, status } = set
  const replicas = spec.replicas ?? 1
  const pods = ownedBy(set, world.pods)
  const waits = [...deletionWaits(set), ...controllerWaits(set), ...refusalOf(set, pods.length < replicas, world)]
  const blocking = pods.find((pod) => !isReadyPod(pod))
  if (pods.length < replicas && spec.podManagementPolicy !== 'Parallel' && blocking !== undefined)
    waits.push({ cause: 'order', message: `the next Pod comes when ${blocking.metadata.name} is ready, by the order OrderedReady` })
  return {
    kind: 'StatefulSet',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    state: `${status.readyReplicas ?? 0} of ${replicas} ready`,
    waits,
    ...membersOf(set, world),
  }
}

/** The reasons why a DaemonSet has fewer ready Pods than nodes. */
export function daemonSetFinding(set: DaemonSet, world: World): Finding {
  const { metadata, status } = set
  const wanted = status.desiredNumberScheduled
  return {
    kind: 'DaemonSet',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    state: `${status.numberReady} of ${wanted} ready`,
    waits: [...deletionWaits(set), ...controllerWaits(set), ...refusalOf(set, status.currentNumberScheduled < wanted, world)],
    ...membersOf(set, world),
  }
}

/** The reasons why a Job has not completed. */
export function jobFinding(job: Job, world: World): Finding {
  const { metadata, spec, status } = job
  const { active = 0, succeeded = 0, failed = 0 } = status
  const completions = spec.completions ?? 1
  const base = { kind: 'Job', name: metadata.name ?? '', namespace: metadata.namespace ?? '' }
  const ended = conditionOf(job, 'Failed', 'True') ?? conditionOf(job, 'FailureTarget', 'True')
  const waits = deletionWaits(job)
  if (ended !== undefined) waits.push({ cause: 'failed', message: ended.message ?? '' })
  if (isFinishedJob(job)) return { ...base, state: ended === undefined ? 'complete' : 'failed', waits, ...membersOf(job, world) }
  if (spec.suspend === true) waits.push({ cause: 'paused', message: 'it is suspended' })
  else if (status.startTime == null) waits.push(neverStarted)
  else if (active === 0 && failed > 0)
    waits.push({ cause: 'back-off', message: `the next Pod comes after a pause, which grows with each of ${failed} failures` })
  waits.push(...refusalOf(job, active === 0, world))
  return { ...base, state: `${succeeded} of ${completions} succeeded, ${active} active, ${failed} failed`, waits, ...membersOf(job, world) }
}

const neverStarted: Wait = {
  cause: 'controller',
  message: "no controller has started it; controllers of workloads are on with --controllers='*,workloads'",
}

/** The reasons why a CronJob runs no Jobs. */
export function cronJobFinding(cronJob: CronJob, world: World): Finding {
  const { metadata, spec, status } = cronJob
  const warning = latestEvent(cronJob, world, 'FailedCreate', 'FailedNeedsStart', 'MissSchedule', 'TooManyMissedTimes', 'UnknownTimeZone')
  const last = status.lastScheduleTime
  return {
    kind: 'CronJob',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    state: `${status.active?.length ?? 0} active, ${last == null ? 'never scheduled' : `last scheduled ${last}`}`,
    waits: [
      ...deletionWaits(cronJob),
      ...(spec.suspend === true ? [{ cause: 'paused' as const, message: 'it is suspended' }] : []),
      ...(warning === undefined ? [] : [refusal(`${warning.reason}: ${warning.message}`)]),
    ],
    ...shortened(ownedBy(cronJob, world.jobs).map((job) => jobFinding(job, world))),
  }
}

type PodOwner = { readonly metadata: Pod['metadata'] }

function membersOf(owner: PodOwner, world: World): Pick<Finding, 'parts' | 'fine' | 'more'> {
  return shortened(ownedBy(owner, world.pods).map((pod) => podFinding(pod, world)))
}

/** The latest event about refused Pods, for kinds without a condition for it. */
function refusalOf(owner: PodOwner, lacksPods: boolean, world: World): Wait[] {
  const event = lacksPods ? latestEvent(owner, world, 'FailedCreate') : undefined
  return event === undefined ? [] : [refusal(event.message ?? '')]
}
