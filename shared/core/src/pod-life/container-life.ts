import type { Pod } from '../workloads/pods.ts'
import {
  backoffFirstMs,
  backoffMaxMs,
  backoffTexts,
  configRetryMs,
  killedCode,
  type ProgramEnd,
  printState,
  type Running,
  type State,
  stopRun,
} from './container-state.ts'
import { type ContainerEnd, endOf, mountsOf, printEnd, resourcesOf } from './container-status.ts'
import { hookOf, startHookOf } from './hooks.ts'
import { ImagePull, type PullState } from './image-pull.ts'
import { fieldPaths, graceMsOf, type LifeStep, type PodEvent, type Role } from './life-step.ts'
import { type LogRun, messageLinesMax, terminationMessage } from './log-lines.ts'
import { type ContainerStatus, type PodContainer, restartsAfter } from './phase.ts'
import { restartsForResize } from './pod-resize.ts'
import { beginProbe, callProbe, type ProbeRun, type ProbeStart, passesAt, printFailure, turnProbe } from './probe-run.ts'
import type { ContainerScript, ProbeKind, Turn } from './script-model.ts'

/** Number of attempts after which an automatic clock does not advance to the next one. */
const hopefulAttempts = 5
/** Probes that begin after the startup probe. */
const afterStart = ['readiness', 'liveness'] as const
const titles: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', readiness: 'Readiness', liveness: 'Liveness' }

interface Definition {
  readonly container: PodContainer
  /** 64 hexadecimal digits, which are the same for equal images. */
  readonly imageDigest: string
}

export interface ContainerLifeOptions extends Definition {
  readonly role: Role
  readonly script: ContainerScript
}

/** A container with all its runs. */
export class ContainerLife {
  readonly name: string
  readonly role: Role
  readonly #script: ContainerScript
  #own: Definition
  #state: State = { kind: 'waiting' }
  #restarts = 0
  #last: ContainerEnd | undefined
  #id = ''
  #backoff: { readonly delayMs: number; readonly atMs: number } | undefined
  #pull: ImagePull
  #next: Definition | undefined

  constructor({ container, role, script, imageDigest }: ContainerLifeOptions) {
    this.name = container.name
    this.role = role
    this.#own = { container, imageDigest }
    this.#script = script
    this.#pull = this.#newPull()
  }

  get #container(): PodContainer {
    return this.#own.container
  }

  #newPull(): ImagePull {
    return new ImagePull(this.#container, this.#script.pull, (...event) => this.#report(...event))
  }

  /** Takes an image and resources. A running container that must restart for them takes them at its restart. */
  update(definition: Definition, step: LifeStep): void {
    const { container } = definition
    const state = this.#state
    const hasNewImage = container.image !== this.#container.image
    // As in a kubelet, the pauses between restarts belong to the image.
    if (hasNewImage) this.#backoff = undefined
    if (state.kind === 'terminated') {
      // It shows the image of its last run.
      this.#own = { ...this.#own, container: { ...container, image: this.#container.image } }
      this.#next = definition
      return
    }
    if (state.kind !== 'running' || !(hasNewImage || restartsForResize(this.#container, container))) {
      this.#take(definition)
      if (hasNewImage && (state.kind === 'unpulled' || state.kind === 'pulling' || state.kind === 'crashed')) this.begin(step)
      return
    }
    this.#next = definition
    if (state.isReplaced === true) return
    state.isReplaced = true
    const why = hasNewImage ? 'definition changed, will be restarted' : 'resize requires restart'
    this.#report(step, 'Normal', 'Killing', `Container ${this.name} ${why}`)
    this.#stopRun(state, { stoppedMs: step.nowMs, graceMs: graceMsOf(step), exitCode: 0 })
  }

  #take(definition: Definition): void {
    const hasNewImage = definition.container.image !== this.#container.image
    this.#own = definition
    this.#next = undefined
    if (hasNewImage) this.#pull = this.#newPull()
  }

  /** Continues from the status in the API, as after a node restart. */
  resume(status: ContainerStatus): void {
    this.#restarts = status.restartCount
    this.#id = status.containerID ?? ''
    const last = status.lastState?.terminated
    if (last) this.#last = endOf(last)
    const { running, terminated, waiting } = status.state ?? {}
    if (terminated) this.#state = { kind: 'terminated', end: endOf(terminated) }
    else if (running) this.#resumeRunning(status, Date.parse(running.startedAt ?? ''))
    else if (waiting && this.#last !== undefined) this.#state = { kind: 'terminated', end: this.#last }
    if (this.#restarts > 0 && this.#last?.finishedMs !== undefined) {
      this.#backoff = { delayMs: Math.min(backoffMaxMs, backoffFirstMs * 2 ** (this.#restarts - 1)), atMs: this.#last.finishedMs }
    }
  }

  #resumeRunning({ started, ready }: ContainerStatus, startedMs: number): void {
    const probes = this.#probesFrom(startedMs)
    const keep = (kind: ProbeKind, isPassed: boolean) => {
      const run = probes.get(kind)
      if (run !== undefined && isPassed) probes.set(kind, callProbe({ ...run, last: { passes: true, count: 1_000 } }, run.firstMs))
    }
    keep('startup', started === true)
    keep('readiness', ready)
    this.#state = { kind: 'running', startedMs, ...this.#endOfRun(startedMs), probes }
  }

  get isRunning(): boolean {
    return this.#state.kind === 'running'
  }

  /** True if it has not run yet and only waits for its turn. */
  get isWaiting(): boolean {
    return this.#state.kind === 'waiting'
  }

  /** A run by its id, with times in milliseconds; undefined if it is not one of the last two. */
  runOf(id: string): LogRun | undefined {
    const state = this.#state
    if (state.kind === 'running' && this.#id === id) return { id, startedMs: state.startedMs }
    const end = [this.#last, state.kind === 'terminated' ? state.end : undefined].find((one) => one?.id === id)
    if (end?.finishedMs === undefined) return undefined
    return { id, startedMs: end.startedMs ?? end.finishedMs, end: { atMs: end.finishedMs, exitCode: end.exitCode } }
  }

  /** The id of the current run; undefined if the container is not running. */
  get runId(): string | undefined {
    return this.isRunning ? this.#id : undefined
  }

  get restartCount(): number {
    return this.#restarts
  }

  /** True if it is running and was signalled to stop. */
  get isStopping(): boolean {
    return (this.run?.signalMs ?? Infinity) <= this.#seenMs
  }

  /** Ends the run because its program has ended; the next step shows it. */
  endRun(end: ProgramEnd, nowMs: number): void {
    if (this.#state.kind === 'running') Object.assign(this.#state, { reason: undefined, message: undefined, ...end, endMs: nowMs })
  }

  /** The current run; undefined if the container is not running. */
  get run(): Running | undefined {
    return this.#state.kind === 'running' ? this.#state : undefined
  }

  /** Sets the readiness that the program reports, for the rest of the run. */
  setReady(isReady: boolean, nowMs: number): void {
    const state = this.#state
    if (state.kind !== 'running') return
    state.readiness = [...(state.readiness ?? []).slice(-1), { atMs: nowMs - state.startedMs, passes: isReady }]
    const run = state.probes.get('readiness')
    if (run !== undefined) state.probes.set('readiness', turnProbe(run, state.readiness, nowMs))
  }

  /** The message of an eviction that is due; undefined if none is. */
  evictionAt(nowMs: number): string | undefined {
    const { eviction } = this.#script
    const isDue = this.#state.kind === 'running' && eviction !== undefined && this.#state.startedMs + eviction.atMs <= nowMs
    return isDue ? eviction.message : undefined
  }

  get exitCode(): number | undefined {
    return this.#state.kind === 'terminated' ? this.#state.end.exitCode : undefined
  }

  get isStarted(): boolean {
    return this.#state.kind === 'running' && this.#state.startHook === undefined && this.#passes('startup')
  }

  get #isReady(): boolean {
    if (this.role === 'init') return this.exitCode === 0
    return this.role !== 'ephemeral' && this.isStarted && this.#passes('readiness')
  }

  /** The current result of a probe or of its script; scripts also affect containers without a probe. */
  #passes(kind: ProbeKind): boolean {
    const run = this.probes.get(kind)
    if (run !== undefined) return run.result === 'pass'
    return this.#probeOf(kind) !== undefined || passesAt(this.#turnsOf(kind), this.#seenMs - (this.run?.startedMs ?? 0))
  }

  get probes(): Map<ProbeKind, ProbeRun> {
    return this.run?.probes ?? new Map()
  }

  #turnsOf(kind: ProbeKind): readonly Turn[] {
    return (kind === 'readiness' ? this.run?.readiness : undefined) ?? this.#script.turns[kind]
  }

  #seenMs = 0

  #probeOf(kind: ProbeKind) {
    if (this.role === 'init' || this.role === 'ephemeral') return undefined
    return this.#container[`${kind}Probe`] ?? undefined
  }

  restarts(spec: Pod['spec']): boolean {
    const { exitCode } = this
    if (exitCode === undefined || this.role === 'ephemeral') return false
    if (this.#state.kind === 'terminated' && this.#state.isReplaced === true) return true
    if (this.role === 'init' && exitCode === 0) return false
    return restartsAfter(this.#container, spec, exitCode)
  }

  /** True if it has ended and will not run again. */
  isDone(spec: Pod['spec']): boolean {
    return this.exitCode !== undefined && !this.restarts(spec)
  }

  /** The time of its next change; `isHopeless` if an automatic clock should not advance to it. */
  due(): { readonly atMs: number; readonly isHopeless: boolean } | undefined {
    const state = this.#state
    switch (state.kind) {
      case 'waiting':
      case 'terminated':
        return undefined
      case 'pulling':
      case 'starting':
        return { atMs: state.untilMs, isHopeless: false }
      case 'unpulled':
        if (state.untilMs === Number.POSITIVE_INFINITY) return undefined
        return { atMs: state.untilMs, isHopeless: this.#pull.failed >= hopefulAttempts }
      case 'crashed':
        return { atMs: state.untilMs, isHopeless: this.#restarts >= hopefulAttempts }
      case 'unconfigured':
        return { atMs: state.untilMs, isHopeless: true }
      case 'running':
        return this.#dueOfRun(state)
    }
  }

  #dueOfRun({ endMs, probes, startedMs, stoppedMs, signalMs = endMs, startHook }: Running) {
    const times = [endMs, signalMs > this.#seenMs ? signalMs : endMs, startHook?.untilMs ?? endMs]
    const evictedMs = startedMs + (this.#script.eviction?.atMs ?? Number.POSITIVE_INFINITY)
    // A Pod that already ends is not evicted.
    if (evictedMs > this.#seenMs) times.push(evictedMs)
    const failing: number[] = []
    for (const { nextMs, last, turns, isAsked } of stoppedMs === undefined ? probes.values() : []) {
      if (nextMs === undefined) continue
      const turnsLater = turns.some(({ atMs }) => startedMs + atMs >= nextMs)
      const isEndless = last !== undefined && last.count > hopefulAttempts && !turnsLater
      if (isEndless && (last.passes === false || isAsked)) failing.push(nextMs)
      else times.push(nextMs)
    }
    for (const kind of ['startup', 'readiness'] as const) {
      if (this.#probeOf(kind) !== undefined) continue
      const turn = this.#turnsOf(kind).find(({ atMs }) => startedMs + atMs > this.#seenMs)
      if (turn !== undefined) times.push(startedMs + turn.atMs)
    }
    const hopeful = Math.min(...times)
    const atMs = Math.min(hopeful, ...failing)
    return Number.isFinite(atMs) ? { atMs, isHopeless: !Number.isFinite(hopeful) } : undefined
  }

  /** Makes a due change; false if none is due. */
  step(step: LifeStep): boolean {
    const state = this.#state
    const { nowMs } = step
    this.#seenMs = nowMs
    if (state.kind === 'running') return this.#stepRun(state, step)
    if (state.kind === 'waiting' || step.isEnding) return false
    if (state.kind !== 'terminated' && state.untilMs > nowMs) {
      if (state.kind !== 'unconfigured' || step.configProblem(this.name) === state.message) return false
    }
    switch (state.kind) {
      case 'pulling':
        this.#goOn(this.#pull.end(state.beganMs, step), step)
        return true
      case 'starting':
        this.#run(step)
        return true
      case 'unpulled':
        if (state.reason === 'ErrImagePull') this.#state = this.#pull.wait(state.message, step)
        else this.begin(step)
        return true
      case 'unconfigured':
        this.begin(step)
        return true
      case 'crashed':
      case 'terminated':
        if (state.kind === 'terminated' && !this.restarts(step.pod.spec)) return false
        this.#restart(step)
        return true
    }
  }

  /** Pulls the image and starts the container, immediately if the script has no delays. */
  begin(step: LifeStep): void {
    if (this.#next !== undefined) this.#take(this.#next)
    this.#goOn(this.#pull.begin(step), step)
  }

  #goOn(pull: PullState | undefined, step: LifeStep): void {
    if (pull === undefined) this.#create(step)
    else this.#state = pull
  }

  #create(step: LifeStep): void {
    const { startMs } = this.#script
    const problem = step.configProblem(this.name)
    if (problem !== undefined) this.#refuse(problem, step)
    else if (startMs > 0) this.#state = { kind: 'starting', beganMs: step.nowMs, untilMs: step.nowMs + startMs }
    else this.#run(step)
  }

  #refuse(message: string, step: LifeStep): void {
    this.#report(step, 'Warning', 'Failed', `Error: ${message}`)
    this.#state = { kind: 'unconfigured', message, untilMs: step.nowMs + configRetryMs }
  }

  #run(step: LifeStep): void {
    const { nowMs, level } = step
    if (this.#last !== undefined) this.#restarts += 1
    const created = level < 32 ? `Created container ${this.name}` : `Created container: ${this.name}`
    this.#report(step, 'Normal', 'Created', level < 35 ? created : 'Container created')
    this.#report(step, 'Normal', 'Started', level < 35 ? `Started container ${this.name}` : 'Container started')
    this.#id = `containerd://${step.newId()}`
    const startHook = startHookOf(this.#container, this.#script, nowMs)
    const probes = this.#probesFrom(nowMs, startHook?.untilMs)
    this.#state = { kind: 'running', startedMs: nowMs, ...this.#endOfRun(nowMs), probes, startHook }
    step.onRun(this.name)
  }

  #endOfRun(startedMs: number): Pick<Running, 'endMs' | 'exitCode' | 'reason' | 'message'> {
    const { runs } = this.#script
    const { durationMs = Number.POSITIVE_INFINITY, exitCode = 0, ...rest } = runs[Math.min(this.#restarts, runs.length - 1)] ?? {}
    return { endMs: startedMs + durationMs, exitCode, ...rest }
  }

  /** The startup probe until it has passed, then the other probes. */
  #probesFrom(startedMs: number, readyToProbeMs = startedMs): Map<ProbeKind, ProbeRun> {
    const runs = new Map<ProbeKind, ProbeRun>()
    const kinds = this.#probeOf('startup') === undefined ? afterStart : (['startup'] as const)
    for (const kind of kinds) this.#beginProbe(runs, kind, { startedMs, readyToProbeMs })
    return runs
  }

  #beginProbe(runs: Map<ProbeKind, ProbeRun>, kind: ProbeKind, times: Pick<ProbeStart, 'startedMs' | 'readyToProbeMs'>): void {
    const [probe, turns] = [this.#probeOf(kind), this.#turnsOf(kind)]
    const isAsked = turns.length === 0 && this.#script.asked?.includes(kind) === true
    if (probe !== undefined) runs.set(kind, beginProbe({ kind, probe, turns, isAsked, ports: this.#container.ports, ...times }))
  }

  #stepRun(state: Running, step: LifeStep): boolean {
    const { nowMs } = step
    if (state.stopHookFails && (state.signalMs ?? 0) <= nowMs) {
      state.stopHookFails = false
      this.#report(step, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')
    }
    if (state.endMs <= nowMs) {
      this.#end(state, step)
      return true
    }
    if (state.stoppedMs !== undefined) return false
    if (state.startHook !== undefined) return state.startHook.untilMs <= nowMs && this.#endStartHook(state, step)
    for (const [kind, run] of state.probes) {
      if (run.nextMs === undefined || run.nextMs > nowMs || (run.isAsked && run.turns.length === 0)) continue
      // Uses the time at which the call was due, so that a late step does not delay later calls.
      const called = callProbe(run, run.nextMs)
      state.probes.set(kind, called)
      this.#judge(state, called, step)
      return true
    }
    return false
  }

  /** A container whose postStart hook has failed is killed. */
  #endStartHook(state: Running, step: LifeStep): true {
    const { fails } = state.startHook ?? {}
    state.startHook = undefined
    if (fails !== true) return true
    this.#report(step, 'Warning', 'FailedPostStartHook', 'PostStartHook failed')
    this.#report(step, 'Normal', 'Killing', 'FailedPostStartHook')
    this.#stopRun(state, { stoppedMs: step.nowMs, graceMs: graceMsOf(step), exitCode: killedCode })
    return true
  }

  /** Handles the result of a call: reports a failure, begins the other probes after the startup probe, and stops a container that is not alive. */
  #judge(state: Running, run: ProbeRun, step: LifeStep): void {
    const { kind, probe, last, result } = run
    if (last?.passes === true && last.output) this.#report(step, 'Warning', 'ProbeWarning', `${titles[kind]} probe warning: ${last.output}`)
    if (last?.passes === false) this.#report(step, 'Warning', 'Unhealthy', `${titles[kind]} ${printFailure(run, step.address, step.level)}`)
    if (kind === 'startup' && result === 'pass') {
      const { startedMs, probes } = state
      for (const other of afterStart) this.#beginProbe(probes, other, { startedMs, readyToProbeMs: step.nowMs })
    }
    if (result !== 'fail' || kind === 'readiness') return
    this.#report(
      step,
      'Normal',
      'Killing',
      `${this.role === 'main' ? 'Container' : 'Init container'} ${this.name} failed ${kind} probe, will be restarted`,
    )
    const graceMs = graceMsOf(step, probe.terminationGracePeriodSeconds)
    this.#stopRun(state, { stoppedMs: step.nowMs, graceMs, exitCode: killedCode })
  }

  /** Stops the run: the container has the grace period to end by itself. A later call may shorten it. False if nothing changes. */
  stop(graceMs: number, step: LifeStep): boolean {
    const state = this.#state
    if (state.kind !== 'running') return false
    const { stoppedMs = step.nowMs } = state
    if (state.stoppedMs === undefined) this.#report(step, 'Normal', 'Killing', `Stopping container ${this.name}`)
    return this.#stopRun(state, { stoppedMs, graceMs, exitCode: 0 })
  }

  #stopRun(state: Running, stop: { readonly stoppedMs: number; readonly graceMs: number; readonly exitCode: number }): boolean {
    const hook = hookOf('preStop', this.#container, this.#script)
    return stopRun(state, { ...stop, hook, shutdown: this.#script.shutdown })
  }

  #end(
    { startedMs, endMs, exitCode, reason = exitCode === 0 ? 'Completed' : 'Error', ...state }: Running,
    { nowMs, readLog }: LifeStep,
  ): void {
    const finishedMs = Math.min(nowMs, Math.max(endMs, startedMs))
    const isInLog = exitCode !== 0 && !state.message && this.#container.terminationMessagePolicy === 'FallbackToLogsOnError'
    const run = { id: this.#id, startedMs, end: { atMs: finishedMs, exitCode } }
    const message = isInLog ? terminationMessage(readLog(this.name, run, messageLinesMax)) : state.message
    const end = { exitCode, reason, ...(message !== undefined && { message }), startedMs, finishedMs, id: this.#id }
    this.#state = { kind: 'terminated', end, isReplaced: state.isReplaced }
  }

  /**
   * Restarts the container: at once after its first end, then after pauses of 10 s, 20 s, … 5 min after each end. After ten minutes without
   * an end, the count begins again.
   */
  #restart(step: LifeStep): void {
    const { nowMs } = step
    const state = this.#state
    const end = state.kind === 'terminated' ? state.end : this.#last
    const finishedMs = end?.finishedMs ?? nowMs
    this.#last = end
    if (state.kind === 'terminated' && state.isReplaced === true) return void this.begin(step)
    const backoff = this.#backoff
    const isFresh = backoff === undefined || finishedMs - backoff.atMs > 2 * backoffMaxMs
    if (!isFresh && nowMs - finishedMs < backoff.delayMs) {
      const { event, message } = backoffTexts(this.name, backoff.delayMs, step)
      this.#report(step, 'Warning', 'BackOff', event)
      this.#state = { kind: 'crashed', message, untilMs: finishedMs + backoff.delayMs }
      return
    }
    this.#backoff = { delayMs: isFresh ? backoffFirstMs : Math.min(backoffMaxMs, backoff.delayMs * 2), atMs: nowMs }
    this.begin(step)
  }

  #report({ report }: LifeStep, type: PodEvent['type'], reason: string, message: string): void {
    report({ type, reason, message, fieldPath: `${fieldPaths[this.role]}{${this.name}}` })
  }

  /** The status for the API. `waiting` is the reason for a container that has not begun. */
  status(waiting: string, level: number): ContainerStatus {
    const { image = '' } = this.#container
    const state = this.#state
    return {
      name: this.name,
      state: printState(state, waiting),
      lastState: this.#last === undefined ? {} : { terminated: printEnd(this.#last) },
      ready: this.#isReady,
      restartCount: this.#restarts,
      image,
      imageID: this.#id === '' ? '' : `${image}@sha256:${this.#own.imageDigest}`,
      ...(this.#id !== '' && { containerID: this.#id }),
      ...(this.role !== 'ephemeral' && (level >= 29 || this.role !== 'init') && { started: this.isStarted }),
      ...(level >= 33 && state.kind !== 'waiting' && this.#id !== '' && resourcesOf(this.#container)),
      ...(level >= 31 && mountsOf(this.#container)),
    }
  }
}
