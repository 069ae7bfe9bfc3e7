import type { LogEntry } from './log-lines.ts'
import type { UsageTurn } from './usage.ts'

/** One run of a container. */
interface Run {
  /** Infinity: it runs until it is stopped. */
  readonly durationMs: number
  readonly exitCode: number
  /** Absent: the one that goes with the exit code. */
  readonly reason?: string
  readonly message?: string
}

/** A change of a probe's result, by its time since the start of the container. */
export interface Turn {
  readonly atMs: number
  readonly passes: boolean
  /** The text of a failed call. */
  readonly output?: string
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness'

interface Pull {
  /** Time of one pull. 0 without a failure: the image is on the node. */
  readonly ms: number
  /** The text of a pull that fails. Absent: none does. */
  readonly error?: string
  /** Pulls that fail before one that does not. */
  readonly failures: number
}

interface Shutdown {
  /** From the signal to the end. Infinity: it ignores the signal. */
  readonly ms: number
  readonly exitCode?: number
}

/** The answer to a command in a container. */
export interface ExecAnswer {
  /** A pattern with `*` for each word; a last word `*` is any number of words. */
  readonly command: readonly string[]
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly afterMs: number
}

/** The server at a port of a container. */
export type PortAnswer =
  /** Every request is answered so. */
  | { readonly kind: 'http'; readonly status: number; readonly contentType: string; readonly body: string }
  /** A program of the machine on a loopback address. */
  | { readonly kind: 'forward'; readonly host: string; readonly port: number }

/** The behaviour of a container, in milliseconds. */
export interface ContainerScript {
  readonly pull: Pull
  /** From the image to the start. */
  readonly startMs: number
  /** By start; the last one repeats. */
  readonly runs: readonly Run[]
  /** Probes pass before the first turn. */
  readonly turns: Readonly<Record<ProbeKind, readonly Turn[]>>
  readonly shutdown: Shutdown
  /** Absent: a line at the start and one at the end. */
  readonly logs?: readonly LogEntry[]
  /** The use while it runs, in the order of times. Before the first turn it is as usual. */
  readonly usage: readonly UsageTurn[]
  /** Contents of files by their paths. */
  readonly files: ReadonlyMap<string, string>
  /** The first that matches a command counts. */
  readonly exec: readonly ExecAnswer[]
  readonly ports: ReadonlyMap<number, PortAnswer>
}

/** The behaviour of a Pod: a script for each of its containers, and the annotations that have none. */
export interface PodScript {
  readonly containers: ReadonlyMap<string, ContainerScript>
  /** Sentences, each naming an annotation and what was expected. */
  readonly problems: readonly string[]
}

/** Members that one source has for a container. Those of a stronger source replace those of a weaker one. */
export interface Words {
  readonly pull?: Partial<Pull>
  readonly startMs?: number
  /** The duration of all runs. */
  readonly runMs?: number
  readonly exitCodes?: readonly number[]
  /** Replaces `runMs` and `exitCodes`. */
  readonly runs?: readonly Partial<Run>[]
  readonly shutdown?: Partial<Shutdown>
  readonly turns?: Partial<Record<ProbeKind, readonly Turn[]>>
  readonly logs?: readonly LogEntry[]
  readonly usage?: readonly UsageTurn[]
  readonly files?: ReadonlyMap<string, string>
  readonly exec?: readonly ExecAnswer[]
  readonly ports?: ReadonlyMap<number, PortAnswer>
}

/** A source of words: those of a container by its name, or of every container of `spec.containers`, `*`. */
export type ScriptLayer = ReadonlyMap<string, Words>

/** Words of a weaker and of a stronger source. */
export function joined(before: Words = {}, after: Words = {}): Words {
  const parts = { pull: { ...before.pull, ...after.pull }, shutdown: { ...before.shutdown, ...after.shutdown } }
  return { ...before, ...after, ...parts, turns: { ...before.turns, ...after.turns } }
}

/** The text of a pull that fails for no other reason. */
export const pullProblem = 'simulated: the image cannot be pulled'
