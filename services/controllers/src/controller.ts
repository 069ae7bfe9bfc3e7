import { setTimeout } from 'node:timers/promises'
import type { Client } from '@orch/client'
import type { Names } from '@orch/core/names'
import type { Clock, Log, WorkqueueMetrics } from '@orch/platform'
import type { ControllerName } from './controller-names.ts'
import { countTimers } from './counted-timers.ts'
import { SharedInformers } from './informers/shared-informers.ts'

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
export interface Controller<Name extends string = ControllerName> {
  /** Name in `--controllers` and in the identity. */
  readonly name: Name
  /** Delay before its start; short by default. */
  readonly startDelayMs?: number
  /** Runs until the signal is raised; resolves when nothing of it is left. */
  run(context: ControllerContext): Promise<void>
}

/** First requests to a server that has just started precede the controllers' own. In real time. */
const defaultStartDelayMs = 50

export interface StartControllersOptions<Name extends string> {
  readonly controllers: readonly Controller<Name>[]
  readonly clientFor: (controller: Name) => Client
  readonly names: Names
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly queues: WorkqueueMetrics
  /** Resolves when the controllers may have work, at the latest when the signal is raised. Absent: they may from the start. */
  readonly until?: ((signal: AbortSignal) => Promise<void>) | undefined
}

/** Controllers that have been started. */
export interface StartedControllers {
  /** True if no controller has a timer set, or none has begun. Work in progress is counted by the clock. */
  isWithoutTimers(): boolean
  /** Resolves when all of them have ended. */
  stop(): Promise<void>
}

/** Starts controllers. */
export function startControllers<Name extends string>({
  controllers,
  clientFor,
  log,
  until,
  ...others
}: StartControllersOptions<Name>): StartedControllers {
  const ending = new AbortController()
  const { signal } = ending
  const timers = countTimers(others.clock)
  const rest = { ...others, clock: timers.clock }
  const informers = new SharedInformers({ ...rest, log, signal })
  const begun = until?.(signal)
  const running = controllers.map(async (controller) => {
    if (begun !== undefined) await begun
    if (signal.aborted) return undefined
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
    isWithoutTimers: () => timers.open === 0,
    async stop() {
      ending.abort()
      // A controller's client may serve an informer that others share.
      for (const client of await Promise.all(running)) client?.close()
    },
  }
}

/** Lets first requests go before. A clock that a test moves makes no controller wait: the order of all requests is that of the test. */
async function startDelay(
  { startDelayMs = defaultStartDelayMs }: Pick<Controller, 'startDelayMs'>,
  { isVirtual, work }: Clock,
  signal: AbortSignal,
): Promise<void> {
  if (isVirtual) return
  work?.begin('start of controllers')
  await setTimeout(startDelayMs, undefined, { signal }).catch(() => undefined)
  work?.end('start of controllers')
}
