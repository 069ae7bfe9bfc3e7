import { durationToMs, parseDuration } from '@orch/core/meta'
import {
  containersOf,
  dueProbes,
  endHook,
  type HookKind,
  type PodContainer,
  type PodLife,
  type RunState,
  setFinding,
  takeHook,
} from '@orch/core/pod-life'
import { type Clock, sleep } from '@orch/platform'
import type { ContainerProgram, ContainerRun } from './code-scripts.ts'
import { actionsOf, type ContainerAction, type Finding } from './port-calls.ts'
import type { ContainerFiles } from './programs/container-files.ts'

export interface ProgramRunsOptions {
  readonly clock: Clock
  readonly life: PodLife
  readonly programs: ReadonlyMap<string, ContainerProgram>
  /** The environment of a container. */
  envOf(container: string): Readonly<Record<string, string>>
  /** The files of a running container, and of its volumes. */
  filesOf(container: string): Promise<ContainerFiles>
  /** Receives the output of a run. */
  readonly log: (run: string, text: string, isPartial?: boolean) => void
  /** Makes the call of a probe or of a hook. */
  call(container: PodContainer, action: ContainerAction): Promise<Finding>
  /** A program has changed the state of its container. */
  readonly onChange: () => void
}

/** A running program. */
interface Running {
  /** That of the container. */
  readonly id: string
  readonly ending: AbortController
}

const hookWork = 'hook of a container'
/** Exit code of a segmentation fault. */
const crashCode = 139
const messageLengthMax = 4096
/** Maximum sleeps of one run for which an automatic clock advances: beyond it the program counts as endless. */
export const hopefulSleeps = 100
/** Minimum sleep, as a program that sleeps repeatedly for no time would hold a virtual clock. */
const sleepMsMin = 1

/** The container of a program is stopping. */
class StoppedError extends Error {
  override readonly name = 'StoppedError'
}

/** A program has exited. */
class ExitError extends Error {
  override readonly name = 'ExitError'
}

/** The programs of one Pod: each starts and ends with its container. */
export class ProgramRuns {
  readonly #options: ProgramRunsOptions
  readonly #running = new Map<string, Running>()

  constructor(options: ProgramRunsOptions) {
    this.#options = options
  }

  /** A container has started: its program starts, and may change its state before it is reported. */
  start(name: string): void {
    const { life, programs } = this.#options
    const program = programs.get(name)
    const id = life.container(name)?.runId
    if (program === undefined || id === undefined) return
    this.#running.get(name)?.ending.abort()
    const running = { id, ending: new AbortController() }
    this.#running.set(name, running)
    void this.#run(name, program, running)
  }

  /** Stops programs of stopping containers, and starts those of containers that ran before the node. */
  follow(): void {
    const { life, programs } = this.#options
    for (const name of programs.keys()) {
      const running = this.#running.get(name)
      const { runId, isStopping } = life.container(name) ?? {}
      if (running !== undefined && (running.id !== runId || isStopping)) running.ending.abort()
      if (runId !== running?.id) this.start(name)
    }
    for (const container of containersOf(life.pod)) {
      const run = life.container(container.name)?.run
      const hook = run && takeHook(run)
      if (run !== undefined && hook !== undefined) void this.#callHook(container, run, hook)
    }
  }

  /** Makes the calls of due probes. */
  async callProbes(): Promise<void> {
    const { life, call, clock } = this.#options
    for (const container of containersOf(life.pod)) {
      const { isStopping = true, probes = new Map() } = life.container(container.name) ?? {}
      for (const { kind, probe } of isStopping ? [] : dueProbes(probes, clock.now())) setFinding(probes, kind, await call(container, probe))
    }
  }

  /** A clock of a test waits for the call. */
  async #callHook(container: PodContainer, run: RunState, kind: HookKind): Promise<void> {
    const { clock, call, onChange } = this.#options
    clock.work?.begin(hookWork)
    try {
      const { passes } = await call(container, actionsOf(container)[kind] ?? {})
      endHook(run, kind, !passes, clock.now())
      onChange()
    } finally {
      clock.work?.end(hookWork)
    }
  }

  close(): void {
    for (const { ending } of this.#running.values()) ending.abort()
    this.#running.clear()
  }

  async #run(name: string, program: ContainerProgram, running: Running): Promise<void> {
    try {
      await program(this.#viewOf(name, running))
      this.#end(name, running, { exitCode: 0 })
    } catch (error) {
      if (error instanceof ExitError || (error instanceof StoppedError && running.ending.signal.aborted)) return
      const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      this.#options.log(running.id, error instanceof Error ? (error.stack ?? text) : text)
      this.#end(name, running, { exitCode: crashCode, message: text.slice(0, messageLengthMax) })
    }
  }

  /** Does nothing for a run that has ended. */
  #end(name: string, { id }: Running, end: { readonly exitCode: number; readonly message?: string }): void {
    const { life, clock } = this.#options
    const container = life.container(name)
    if (container?.runId !== id) return
    container.endRun(end, clock.now())
    this.#options.onChange()
  }

  #viewOf(name: string, running: Running): ContainerRun {
    const { life, clock, envOf, filesOf } = this.#options
    const { signal } = running.ending
    let sleeps = 0
    return {
      pod: life.pod,
      container: name,
      restarts: life.container(name)?.restartCount ?? 0,
      env: envOf(name),
      files: () => filesOf(name),
      signal,
      log: (text, isPartial) => {
        if (life.container(name)?.runId === running.id) this.#options.log(running.id, text, isPartial)
      },
      async sleep(duration) {
        const delayMs = typeof duration === 'number' ? duration : toMs(duration)
        sleeps += 1
        await sleep(clock, Math.max(delayMs, sleepMsMin), signal, { background: sleeps > hopefulSleeps })
        if (signal.aborted) throw new StoppedError(`the container ${name} stops`)
      },
      ready: (isReady = true) => {
        const container = life.container(name)
        if (container?.runId !== running.id) return
        container.setReady(isReady, clock.now())
        this.#options.onChange()
      },
      exit: (exitCode, message) => {
        if (!Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255) {
          throw new RangeError(`exit(${exitCode}): must be a whole number between 0 and 255`)
        }
        this.#end(name, running, { exitCode, ...(message !== undefined && { message: message.slice(0, messageLengthMax) }) })
        throw new ExitError(`the container ${name} has ended`)
      },
    }
  }
}

function toMs(text: string): number {
  const parsed = parseDuration(text)
  if (parsed === undefined || parsed < 0n) throw new TypeError(`sleep(${JSON.stringify(text)}): must be a duration such as 30s or 1m30s`)
  return durationToMs(parsed)
}
