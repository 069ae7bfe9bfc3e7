import { setTimeout } from 'node:timers/promises'
import type { Client } from '@orch/client'
import type { Names } from '@orch/core/names'
import { type Clock, type Log, nearest, type WorkqueueMetrics } from '@orch/platform'
import { SharedInformers } from './informers/shared-informers.ts'

/** Every controller there is. */
export const controllerNames = [
  'namespace',
  'customresourcedefinition',
  'bootstrap',
  'garbage-collector',
  'clusterrole-aggregation',
  'flow-control',
  'serviceaccount',
  'serviceaccount-token',
  'root-ca-cert-publisher',
  'resourcequota',
  'pvc-protection',
  'pv-protection',
  'storage-version-migrator',
  'validatingadmissionpolicy-status',
  'tokencleaner',
  'bootstrapsigner',
  'replicaset',
  'replicationcontroller',
  'deployment',
  'statefulset',
  'job',
  'cronjob',
  'ttl-after-finished',
  'disruption',
  'endpoint',
  'endpointslice',
  'endpointslicemirroring',
] as const
export type ControllerName = (typeof controllerNames)[number]

/** Controllers of workloads: from replicaset on. */
const workloads: readonly ControllerName[] = controllerNames.slice(controllerNames.indexOf('replicaset'))

/** Controllers that `*` does not include: a cluster of machines joins by tokens, and without nodes the Pods of workloads stay Pending. */
const offByDefault: ReadonlySet<ControllerName> = new Set<ControllerName>(['tokencleaner', 'bootstrapsigner', ...workloads])

/** Upstream's long names that are not the short one with `-controller`. */
const longNames: ReadonlyMap<string, ControllerName> = new Map([
  ['endpoints-controller', 'endpoint'],
  ['endpointslice-mirroring-controller', 'endpointslicemirroring'],
])

/** The dependencies of every controller. */
export interface ControllerContext {
  /** A client of the gateway with the controller's own identity. */
  readonly client: Client
  readonly names: Names
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Log
  readonly queues: WorkqueueMetrics
  /** Caches that controllers share. Absent: the controller has caches of its own. */
  readonly informers?: SharedInformers
  /** Raised when the controller must end. */
  readonly signal: AbortSignal
}

/** A loop that keeps objects in their wanted state. */
export interface Controller {
  /** Name in `--controllers` and in the identity. */
  readonly name: ControllerName
  /** Delay before its start; short by default. */
  readonly startDelayMs?: number
  /** Runs until the signal is raised; resolves when nothing of it is left. */
  run(context: ControllerContext): Promise<void>
}

/** First requests to a server that has just started precede the controllers' own. In real time. */
const defaultStartDelayMs = 50

export interface StartControllersOptions {
  readonly controllers: readonly Controller[]
  readonly clientFor: (controller: ControllerName) => Client
  readonly names: Names
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly queues: WorkqueueMetrics
}

/** Starts controllers; `stop` resolves when all of them have ended. */
export function startControllers({ controllers, clientFor, log, ...rest }: StartControllersOptions): { stop(): Promise<void> } {
  const ending = new AbortController()
  const { signal } = ending
  const informers = new SharedInformers({ ...rest, log, signal })
  const running = controllers.map(async (controller) => {
    const ownLog = log.child({ controller: controller.name })
    const client = clientFor(controller.name)
    try {
      await startDelay(controller, rest.clock, signal)
      if (!signal.aborted) await controller.run({ ...rest, client, log: ownLog, informers, signal })
    } catch (error) {
      ownLog.error({ err: error }, 'a controller has ended')
    }
    return client
  })
  return {
    async stop() {
      ending.abort()
      // A controller's client may serve an informer that others share.
      for (const client of await Promise.all(running)) client.close()
    },
  }
}

/** Lets first requests go before. A clock that a test moves makes no controller wait: the order of all requests is that of the test. */
async function startDelay(
  { startDelayMs = defaultStartDelayMs }: Controller,
  { isVirtual, work }: Clock,
  signal: AbortSignal,
): Promise<void> {
  if (isVirtual) return
  work?.begin('start of controllers')
  await setTimeout(startDelayMs, undefined, { signal }).catch(() => undefined)
  work?.end('start of controllers')
}

/**
 * The controllers selected by a list of words: `*` is all but those that have to be named, `name` one more, `-name` one less, `-*` alone none,
 * `workloads` all controllers of workloads, the last word about a name counts. Names may end in `-controller`, as upstream's do since 1.28. An unknown name is an
 * error that suggests the nearest.
 *
 *   ['*', '-namespace'] → all but namespace        ['namespace'] → that one        ['workloads', '-job'] → the others of workloads
 */
export function selectControllers(words: readonly string[]): ControllerName[] {
  const selected = new Set<ControllerName>()
  if (words.includes('*')) for (const name of controllerNames) if (!offByDefault.has(name)) selected.add(name)
  for (const word of words) {
    if (word === '*' || word === '-*') continue
    for (const name of namesIn(word.replace(/^-/, ''))) {
      if (word.startsWith('-')) selected.delete(name)
      else selected.add(name)
    }
  }
  return controllerNames.filter((name) => selected.has(name))
}

function namesIn(word: string): readonly ControllerName[] {
  if (word === 'workloads') return workloads
  const found = controllerNames.find((name) => name === word || `${name}-controller` === word) ?? longNames.get(word)
  if (found !== undefined) return [found]
  const near = nearest(word, controllerNames)
  throw new Error(
    `unknown controller ${word}${near === undefined ? '' : `; did you mean ${near}?`} (known: ${controllerNames.join(', ')}, workloads)`,
  )
}
