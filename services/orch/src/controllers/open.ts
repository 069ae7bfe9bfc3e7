import type { Client } from '@orch/client'
import { type ControllerName, type ControllersOptions, createControllers, startControllers, type UntilNeeded } from '@orch/controllers'
import type { Names } from '@orch/core/names'
import { type Metrics, workqueueMetricsOf } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'

/** Identity of a part of the server. */
export interface Identity {
  readonly name: string
  readonly groups: readonly string[]
}

/** The identity of the part that creates the bootstrap objects. */
export const serverIdentity: Identity = { name: 'system:apiserver', groups: ['system:masters'] }

/** Prefix of node user names. */
export const nodeUserPrefix = 'system:node:'

export interface ControllersParts extends ControllersOptions {
  readonly controllers: readonly ControllerName[]
  clientAs(identity: Identity): Client
  readonly metrics: Metrics
  /** Undefined if the controllers may have work from the start. */
  readonly untilNeeded?: UntilNeeded | undefined
}

/** Controllers that run. */
export interface RunningControllers {
  /** True if no controller has a pending timer. Work in progress is counted by the clock. */
  isWithoutTimers(): boolean
  /** Does work while no controller runs; then they restart. */
  pausing<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when such work is done; undefined if there is none. */
  paused(): Promise<void> | undefined
}

/** Runs the controllers, each with its own identity. */
export async function runControllers(parts: ControllersParts, surroundings: Surroundings): Promise<RunningControllers> {
  const { clientAs, metrics } = parts
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const { names } = catalogue
  const options = {
    controllers: await createControllers(parts.controllers, parts, surroundings),
    clientFor: (name: ControllerName) => clientAs(identityOf(names, name)),
    names,
    clock,
    random: chance.stream('controllers').fraction,
    log,
    queues: workqueueMetricsOf(metrics, clock),
    untilNeeded: parts.untilNeeded,
  }
  let running = startControllers(options)
  let isStopped = false
  lifecycle.onStop('controllers', () => {
    isStopped = true
    // A controller waits for answers that a fault holds.
    surroundings.faults?.clear()
    return running.stop()
  })
  let last: Promise<void> | undefined
  const pause = async <T>(work: () => Promise<T>): Promise<T> => {
    await running.stop()
    try {
      return await work()
    } finally {
      if (!isStopped) running = startControllers(options)
    }
  }
  return {
    isWithoutTimers: () => running.isWithoutTimers(),
    pausing(work) {
      const done = (last ?? Promise.resolve()).then(() => pause(work))
      const ended = Promise.allSettled([done]).then(() => {
        if (last === ended) last = undefined
      })
      last = ended
      return done
    },
    paused: () => last,
  }
}

/** The scheduler: a separate user, with the role of a kube-scheduler. */
export const schedulerIdentity: Identity = { name: 'system:kube-scheduler', groups: [] }

/** The user of a controller's requests. */
export function identityOf(names: Names, controller: ControllerName): Identity {
  if (controller === 'scheduler') return schedulerIdentity
  return isServer.has(controller) ? serverIdentity : controllerIdentity(names, controller)
}

/** Controllers that act as the server itself, as no bootstrap role has their rights. */
const isServer: ReadonlySet<ControllerName> = new Set([
  'bootstrap',
  'customresourcedefinition',
  'flow-control',
  'leader-election',
  'serviceaccount-token',
  'legacy-serviceaccount-token-cleaner',
])

function controllerIdentity(names: Names, controller: ControllerName): Identity {
  const group = 'system:serviceaccounts'
  return {
    name: `system:serviceaccount:${names.systemNamespace}:${accounts[controller] ?? `${controller}-controller`}`,
    groups: [group, `${group}:${names.systemNamespace}`],
  }
}

const accounts: Partial<Record<ControllerName, string>> = {
  'garbage-collector': 'generic-garbage-collector',
  tokencleaner: 'token-cleaner',
  bootstrapsigner: 'bootstrap-signer',
  serviceaccount: 'service-account-controller',
  'root-ca-cert-publisher': 'root-ca-cert-publisher',
  replicationcontroller: 'replication-controller',
  resourceclaim: 'resource-claim-controller',
  csrapproving: 'certificate-controller',
  csrsigning: 'certificate-controller',
  csrcleaner: 'certificate-controller',
  daemonset: 'daemon-set-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler',
  nodeipam: 'node-controller',
  nodelifecycle: 'node-controller',
  podgc: 'pod-garbage-collector',
  'persistentvolume-binder': 'persistent-volume-binder',
  'persistentvolume-expander': 'expand-controller',
  'taint-eviction': 'node-controller',
  'simulated-provisioner': 'persistent-volume-binder',
}
