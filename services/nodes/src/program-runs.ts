import { inspect } from 'node:util'
import { durationToMs, parseDuration } from '@orch/core/meta'
import { containersOf, endHook, type PodContainer, type PodLife, setFinding, takeHook, takeProbes } from '@orch/core/pod-life'
import { type Clock, sleep, stackOf, type TurnBudget } from '@orch/platform'
import { type ContainerProgram, type ContainerRun, printThrown } from './code-scripts.ts'
import { actionsOf, type ContainerAction, type Finding } from './port-calls.ts'
import type { ContainerFiles } from './programs/container-files.ts'

export interface ProgramRunsOptions {
  readonly clock: Clock
  readonly life: PodLife
  /** Bounds the calls in one turn of the event loop. */
  readonly turns: TurnBudget
  readonly programs: ReadonlyMap<string, ContainerProgram>
  envOf(container: string): Readonly<Record<string, string>>
  filesOf(container: string): Promise<ContainerFiles>
  readonly log: (run: string, text: string, isPartial?: boolean) => void
  /** Makes the call of a probe or of a hook. Never rejects. */
  call(container: PodContainer, action: ContainerAction): Promise<Finding>
  readonly onChange: () => void
}

interface Running {
  readonly id: string
  readonly ending: AbortController
}

/** Exit code of a segmentation fault. */
const callWork = 'probe or hook of a container'
const crashCode = 139
const messageLengthMax = 4096
/** Maximum sleeps of one run for which an automatic clock advances: beyond it the program counts as endless. */
export const hopefulSleeps = 100
/** Minimum sleep, as a program that sleeps repeatedly for no time would hold a virtual clock. */
const sleepMsMin = 1

class StoppedError extends Error {
  override readonly name = 'StoppedError'
}

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
    const { life, programs, clock } = this.#options
    for (const name of programs.keys()) {
      const running = this.#running.get(name)
      const { runId, isStopping } = life.container(name) ?? {}
      if (running !== undefined && (running.id !== runId || isStopping)) running.ending.abort()
      if (runId !== running?.id) this.start(name)
    }
    for (const container of containersOf(life.pod)) {
      const run = life.container(container.name)?.run
      const hook = run && takeHook(run)
      if (run === undefined || hook === undefined) continue
      void this.#whenEnded(
        this.#call(container, actionsOf(container)[hook] ?? {}, ({ passes }) => endHook(run, hook, !passes, clock.now())),
      )
    }
  }

  /** Begins the calls of due probes, side by side. Under a clock of a test their results are seen together, so that runs do not differ. */
  callProbes(): void {
    const { life, clock } = this.#options
    const calls: Promise<unknown>[] = []
    for (const container of containersOf(life.pod)) {
      const { isStopping = true, probes = new Map() } = life.container(container.name) ?? {}
      for (const taken of isStopping ? [] : takeProbes(probes, clock.now()))
        calls.push(this.#call(container, taken.probe, (finding) => setFinding(probes, taken, finding)))
    }
    for (const ended of clock.isVirtual && calls.length > 0 ? [Promise.all(calls)] : calls) void this.#whenEnded(ended)
  }

  async #call(container: PodContainer, action: ContainerAction, end: (finding: Finding) => void): Promise<void> {
    const { call, turns } = this.#options
    await turns.take(1)
    end(await call(container, action))
  }

  /** A clock of a test waits for the calls. */
  async #whenEnded(calls: Promise<unknown>): Promise<void> {
    const { clock, onChange } = this.#options
    clock.work?.begin(callWork)
    await calls
    onChange()
    clock.work?.end(callWork)
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
      this.#options.log(running.id, stackOf(error))
      this.#end(name, running, { exitCode: crashCode, message: printThrown(error).slice(0, messageLengthMax) })
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
        requireText('log', text)
        if (life.container(name)?.runId === running.id) this.#options.log(running.id, text, isPartial)
      },
      async sleep(duration) {
        const delayMs = typeof duration === 'number' && !Number.isNaN(duration) ? duration : toMs(duration)
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
        if (message !== undefined) requireText('exit', message)
        this.#end(name, running, { exitCode, ...(message !== undefined && { message: message.slice(0, messageLengthMax) }) })
        throw new ExitError(`the container ${name} has ended`)
      },
    }
  }
}

function requireText(what: string, text: unknown): void {
  if (typeof text !== 'string') throw new TypeError(`${what}(${inspect(text)}): must be a text`)
}

function toMs(text: unknown): number {
  const parsed = typeof text === 'string' ? parseDuration(text) : undefined
  if (parsed === undefined || parsed < 0n)
    throw new TypeError(
      `sleep(${typeof text === 'string' ? JSON.stringify(text) : inspect(text)}): must be a duration such as 30s or 1m30s`,
    )
  return durationToMs(parsed)
}
