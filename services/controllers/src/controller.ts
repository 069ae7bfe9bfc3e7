import { setTimeout } from 'node:timers/promises'
import type { Client } from '@orch/client'
import { type Clock, retryDelayMs, sleep, type WorkqueueMetrics } from '@orch/platform'
import type { ControllerName } from './controller-names.ts'
import { countTimers } from './counted-timers.ts'
import { SharedInformers } from './informers/shared-informers.ts'
import type { Surroundings } from './surroundings.ts'

/** The dependencies of every controller. */
export interface ControllerContext extends Surroundings {
  readonly queues: WorkqueueMetrics
  /** Caches that controllers share. Without it the controller has its own caches. */
  readonly informers?: SharedInformers
  /** Ends this run because of an exception in a listener; the controller starts again after a pause. Without it the exception is thrown. */
  readonly fail?: (error: unknown) => void
}

/** A loop that reconciles objects with their wanted state. */
export interface Controller<Name extends string = ControllerName> {
  /** Name in `--controllers` and in the identity. */
  readonly name: Name
  /** Delay before its start; short by default. */
  readonly startDelayMs?: number
  /** Runs until the signal is aborted; resolves when all its work has ended. A controller that rejects starts again after a pause. */
  run(context: ControllerContext): Promise<void>
}

/** One controller of several loops, which have its name. */
export function loopsTogether(...loops: readonly [Controller, ...Controller[]]): Controller {
  return { name: loops[0].name, run: async (context) => void (await Promise.all(loops.map((loop) => loop.run(context)))) }
}

/** The first requests of clients to a new server precede those of controllers. In real time. */
const usualDelayMs = 50
/** Maximum pause before a controller that has failed starts again. After a longer run the pauses begin anew. */
const restartMsMax = 30_000

export interface StartControllersOptions<Name extends string> extends Pick<Surroundings, 'names' | 'clock' | 'random' | 'log'> {
  readonly controllers: readonly Controller<Name>[]
  readonly clientFor: (controller: Name) => Client
  readonly queues: WorkqueueMetrics
  /** Resolves when the controllers may have work, at the latest when the signal is aborted. By default they may from the start. */
  readonly until?: ((signal: AbortSignal) => Promise<void>) | undefined
  readonly early?: EarlyStart<Name> | undefined
}

/** Controllers that start before the others if a client waits for their work. */
interface EarlyStart<Name extends string> {
  readonly controllers: readonly Name[]
  /** Resolves when they have work, at the latest when the signal is aborted. */
  readonly until: (signal: AbortSignal) => Promise<void>
}

/** Controllers that have been started. */
export interface StartedControllers {
  /** True if no controller has a pending timer, or none has started. Work in progress is counted by the clock. */
  isWithoutTimers(): boolean
  /** Resolves when all controllers have ended. */
  stop(): Promise<void>
}

/** Starts controllers. */
export function startControllers<Name extends string>({
  controllers,
  clientFor,
  log,
  until,
  early,
  ...others
}: StartControllersOptions<Name>): StartedControllers {
  const ending = new AbortController()
  const { signal } = ending
  const timers = countTimers(others.clock)
  const rest = { ...others, clock: timers.clock }
  const informers = new SharedInformers({ ...rest, log, signal })
  const begun = until?.(signal).catch((error: unknown) => log.warn({ err: error }, 'controllers start before the first change'))
  const earlyStart = (begun ?? Promise.resolve()).then(() => delayStart(usualDelayMs, rest.clock, signal, early?.until))
  const run = async (controller: Controller<Name>): Promise<Client | undefined> => {
    if (signal.aborted) return undefined
    const ownLog = log.child({ controller: controller.name })
    const client = clientFor(controller.name)
    const isEarly = early?.controllers.includes(controller.name) === true
    await (isEarly ? earlyStart : delayStart(controller.startDelayMs ?? usualDelayMs, rest.clock, signal))
    await runAgain(controller, { ...rest, client, log: ownLog, informers, signal })
    return client
  }
  const runAll = () => Promise.all(controllers.map(run))
  const running = begun === undefined ? runAll() : begun.then(runAll)
  return {
    isWithoutTimers: () => timers.open === 0,
    async stop() {
      ending.abort()
      // The client of a controller may serve an informer that others share.
      const clients = await running
      await informers.done()
      for (const client of clients) client?.close()
    },
  }
}

/** Runs a controller until the signal is aborted, again after each failure. */
async function runAgain<Name extends string>(controller: Controller<Name>, context: Omit<ControllerContext, 'fail'>): Promise<void> {
  const { clock, log, random, signal } = context
  for (let attempt = 1; !signal.aborted; attempt++) {
    const beganMs = clock.monotonic()
    const failed = new AbortController()
    const fail = (error: unknown) => failed.abort(error)
    try {
      await controller.run({ ...context, signal: AbortSignal.any([signal, failed.signal]), fail })
    } catch (error) {
      fail(error)
    }
    if (signal.aborted || !failed.signal.aborted) return
    log.error({ err: failed.signal.reason }, 'a controller has failed and starts again')
    if (clock.monotonic() - beganMs > restartMsMax) attempt = 1
    await sleep(clock, retryDelayMs({ attempt, maxMs: restartMsMax, random: random() }), signal)
  }
}

/** Lets first requests of clients run first. A manual clock delays no controller: the test decides the order of all requests. */
async function delayStart(
  delayMs: number,
  { isVirtual, work }: Clock,
  signal: AbortSignal,
  untilEarlier?: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (isVirtual || signal.aborted) return
  const ending = new AbortController()
  const waiting = AbortSignal.any([signal, ending.signal])
  work?.begin('start of controllers')
  const ends = [setTimeout(delayMs, undefined, { signal: waiting }), ...(untilEarlier === undefined ? [] : [untilEarlier(waiting)])]
  await Promise.race(ends).catch(() => undefined)
  ending.abort()
  await Promise.allSettled(ends)
  work?.end('start of controllers')
}
