import type { Client, ResourceAddress } from '@orch/client'
import { type Clock, onAbort, retryDelayMs, sleep, type Timer, type WorkqueueMetrics } from '@orch/platform'
import type { ControllerName } from './controller-names.ts'
import { SharedInformers } from './informers/shared-informers.ts'
import type { Surroundings } from './surroundings.ts'

/** The objects that give a controller work. */
export type Need =
  /** Any change of an object. */
  | { readonly kind: 'change' }
  /** Objects with owners, and objects whose deletion waits for their dependants. */
  | { readonly kind: 'owners' }
  | { readonly kind: 'object'; readonly of: ResourceAddress }
  | {
      readonly kind: 'objects'
      /** Without an object of this resource the controller has no work. Undefined if it always has some. */
      readonly own: ResourceAddress | undefined
      /** The collections whose changes give the controller more work; undefined for all. */
      readonly watched: readonly WatchedCollection[] | undefined
    }

/** A collection, or the part of it in one namespace. */
export interface WatchedCollection {
  readonly resource: ResourceAddress
  readonly select?: { readonly namespace?: string | undefined }
}

/** Resolves when a controller may have work, at the latest when the signal is aborted. */
export type UntilNeeded = (need: Need, signal: AbortSignal) => Promise<void>

/** The dependencies of every controller. */
export interface ControllerContext extends Surroundings {
  /** Undefined if the controller may have work from the start. */
  readonly untilNeeded?: UntilNeeded | undefined
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
  /** Runs until the signal is aborted; resolves when all its work has ended. A controller that rejects starts again after a pause. */
  run(context: ControllerContext): Promise<void>
}

/** One controller of several loops, which have its name. */
export function loopsTogether(...loops: readonly [Controller, ...Controller[]]): Controller {
  return { name: loops[0].name, run: async (context) => void (await Promise.all(loops.map((loop) => loop.run(context)))) }
}

/** Maximum pause before a controller that has failed starts again. After a longer run the pauses begin anew. */
const restartMsMax = 30_000

export interface StartControllersOptions<Name extends string> extends Pick<Surroundings, 'names' | 'clock' | 'random' | 'log'> {
  readonly controllers: readonly Controller<Name>[]
  readonly clientFor: (controller: Name) => Client
  readonly queues: WorkqueueMetrics
  readonly untilNeeded?: UntilNeeded | undefined
}

/** Controllers that have been started. */
export interface StartedControllers {
  /** True if no controller has a pending timer. Work in progress is counted by the clock. */
  isWithoutTimers(): boolean
  /** Resolves when all controllers have ended. */
  stop(): Promise<void>
}

export function startControllers<Name extends string>({
  controllers,
  clientFor,
  log,
  ...others
}: StartControllersOptions<Name>): StartedControllers {
  const ending = new AbortController()
  const { signal } = ending
  const timers = countTimers(others.clock)
  const rest = { ...others, clock: timers.clock }
  const informers = new SharedInformers({ ...rest, log, signal })
  // At rest no controller has work before the first change. All wait for it together, since each needs a client, a log and a queue.
  const changed = others.untilNeeded?.({ kind: 'change' }, signal)
  const run = async (controller: Controller<Name>): Promise<Client | undefined> => {
    if (changed !== undefined) await changed
    if (signal.aborted) return undefined
    const ownLog = log.child({ controller: controller.name })
    const client = clientFor(controller.name)
    await runAgain(controller, { ...rest, client, log: ownLog, informers, signal })
    return client
  }
  const running = Promise.all(controllers.map(run))
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
    // A signal of `AbortSignal.any` looks at its sources at each reading, and queues read it for each key.
    const ending = new AbortController()
    const fail = (error: unknown) => ending.abort(error)
    const end = () => ending.abort(signal.reason)
    onAbort(signal, end)
    try {
      await controller.run({ ...context, signal: ending.signal, fail })
    } catch (error) {
      fail(error)
    }
    signal.removeEventListener('abort', end)
    if (signal.aborted || !ending.signal.aborted) return
    log.error({ err: ending.signal.reason }, 'a controller has failed and starts again')
    if (clock.monotonic() - beganMs > restartMsMax) attempt = 1
    await sleep(clock, retryDelayMs({ attempt, maxMs: restartMsMax, random: random() }), signal)
  }
}

/** Counts the timers of the returned clock, without series. */
function countTimers(clock: Clock) {
  const open = new Set<Timer>()
  const { work, isVirtual = false } = clock
  const counting: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    every: (intervalMs, callback) => clock.every(intervalMs, callback),
    after(delayMs, callback, options) {
      const ring = () => {
        open.delete(counted)
        callback()
      }
      const timer = clock.after(delayMs, ring, options)
      const counted: Timer = {
        cancel() {
          open.delete(counted)
          timer.cancel()
        },
      }
      open.add(counted)
      return counted
    },
    work,
    isVirtual,
  }
  return {
    clock: counting,
    /** Timers that have neither fired nor been cancelled. */
    get open() {
      return open.size
    },
  }
}
