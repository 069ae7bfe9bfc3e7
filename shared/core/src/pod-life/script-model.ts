import type { LogEntry } from './log-lines.ts'
import type { UsageTurn } from './usage.ts'

/** One run of a container. */
interface Run {
  /** Infinity if it runs until it is stopped. */
  readonly durationMs: number
  readonly exitCode: number
  /** Default: the reason for the exit code. */
  readonly reason?: string
  readonly message?: string
}

/** A change of a probe's result at a time after the container's start. */
export interface Turn {
  readonly atMs: number
  readonly passes: boolean
  /** The message of a failed call, or a warning about one that passes. */
  readonly output?: string
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness'
export type HookKind = 'postStart' | 'preStop'
/** A probe or a hook whose call is made. */
export type AskedKind = ProbeKind | HookKind

interface Pull {
  /** The duration of a pull. 0 without a failure if the image is on the node. */
  readonly ms: number
  /** The message of a failing pull; undefined if pulls succeed. */
  readonly error?: string
  /** The number of failing pulls before the first success. */
  readonly failures: number
}

interface Shutdown {
  /** The time from the signal to the end. Infinity if it ignores the signal. */
  readonly ms: number
  readonly exitCode?: number
}

/** The node evicts the Pod during a run of the container. */
interface Eviction {
  readonly atMs: number
  readonly message: string
}

/** The message of an eviction without another one. */
export const evictedMessage = 'The node was low on resource: memory. '

/** The answer to a command in a container. */
export interface ExecAnswer {
  /** A pattern with `*` for single words; a final `*` matches any number of words. */
  readonly command: readonly string[]
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly afterMs: number
}

/** The server at a container port. */
export type PortAnswer =
  /** A fixed answer to every request. */
  | { readonly kind: 'http'; readonly status: number; readonly contentType: string; readonly body: string }
  /** Forwards to a program of the machine on a loopback address. */
  | { readonly kind: 'forward'; readonly host: string; readonly port: number }

/** The scripted behaviour of a container, in milliseconds. */
export interface ContainerScript {
  readonly pull: Pull
  /** The time from the pulled image to the start. */
  readonly startMs: number
  /** One per start; the last one repeats. */
  readonly runs: readonly Run[]
  /** Changes of probe results. Probes pass before the first turn. */
  readonly turns: Readonly<Record<ProbeKind, readonly Turn[]>>
  /** Probes and hooks whose calls are made. */
  readonly asked?: readonly AskedKind[]
  readonly shutdown: Shutdown
  readonly eviction?: Eviction
  /** Default: a line at the start and a line at the end. */
  readonly logs?: readonly LogEntry[]
  /** The usage while running, in order of time. Before the first turn it is the default usage. */
  readonly usage: readonly UsageTurn[]
  /** Contents of files by path. */
  readonly files: ReadonlyMap<string, string>
  /** The first match for a command applies. */
  readonly exec: readonly ExecAnswer[]
  readonly ports: ReadonlyMap<number, PortAnswer>
}

/** The behaviour of a Pod: a script per container, and the errors of its annotations. */
export interface PodScript {
  readonly containers: ReadonlyMap<string, ContainerScript>
  /** Error messages, each with an annotation and the expected value. */
  readonly problems: readonly string[]
}

/** The settings of a container from one source. Those of a stronger source override them. */
export interface Words {
  readonly pull?: Partial<Pull>
  readonly startMs?: number
  readonly runMs?: number
  readonly exitCodes?: readonly number[]
  /** Replaces `runMs` and `exitCodes`. */
  readonly runs?: readonly Partial<Run>[]
  readonly asked?: readonly AskedKind[]
  readonly shutdown?: Partial<Shutdown>
  readonly eviction?: Eviction
  readonly turns?: Partial<Record<ProbeKind, readonly Turn[]>>
  readonly logs?: readonly LogEntry[]
  readonly usage?: readonly UsageTurn[]
  readonly files?: ReadonlyMap<string, string>
  readonly exec?: readonly ExecAnswer[]
  readonly ports?: ReadonlyMap<number, PortAnswer>
}

/** A source of settings by container name; `*` means every container of `spec.containers`. */
export type ScriptLayer = ReadonlyMap<string, Words>

/** Merges settings; those of the stronger source win. */
export function joined(before: Words = {}, after: Words = {}): Words {
  const parts = { pull: { ...before.pull, ...after.pull }, shutdown: { ...before.shutdown, ...after.shutdown } }
  return { ...before, ...after, ...parts, turns: { ...before.turns, ...after.turns } }
}

/** The message of a failing pull without a reason. */
export const pullProblem = 'simulated: the image cannot be pulled'
