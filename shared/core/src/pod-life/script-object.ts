import { type ApiObject, durationToMs, parseDuration } from '../meta/index.ts'
import { type LabelSelector, matchesLabels, toLabelRequirements, wildcard } from '../selectors/index.ts'
import type { Pod } from '../workloads/pods.ts'
import type { LogEntry } from './log-lines.ts'
import {
  type ExecAnswer,
  evictedMessage,
  type PortAnswer,
  type ProbeKind,
  pullProblem,
  type ScriptLayer,
  type Turn,
  type Words,
} from './script-model.ts'
import { parseUsage, type UsageTurn } from './usage.ts'

interface TurnEntry {
  readonly at: string
  readonly pass: boolean
  readonly output?: string
}

interface LineEntry {
  readonly at?: string
  readonly every?: string
  readonly end?: boolean
  readonly text: string
  readonly stream?: 'Stdout' | 'Stderr'
}

interface ExecEntry {
  readonly command: readonly string[]
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
  readonly after?: string
}

interface PortEntry {
  readonly port: number
  readonly http?: { readonly status?: number; readonly contentType?: string; readonly body?: string }
  readonly forwardTo?: string
}

interface ContainerEntry {
  readonly name: string
  readonly pull?: { readonly after?: string; readonly error?: string; readonly times?: number }
  readonly startAfter?: string
  readonly starts?: readonly { readonly runFor?: string; readonly exitCode?: number; readonly reason?: string; readonly message?: string }[]
  readonly ready?: readonly TurnEntry[]
  readonly live?: readonly TurnEntry[]
  readonly startup?: readonly TurnEntry[]
  readonly logs?: readonly LineEntry[]
  readonly exec?: readonly ExecEntry[]
  readonly ports?: readonly PortEntry[]
  readonly usage?: readonly { readonly at?: string; readonly cpu?: string | number; readonly memory?: string | number }[]
  readonly files?: Readonly<Record<string, string>>
  readonly evict?: { readonly after: string; readonly message?: string }
  readonly shutdown?: { readonly after?: string; readonly exitCode?: number; readonly ignoreTerm?: boolean }
}

/** A PodScript or ClusterPodScript; `scriptKinds` has its schema. */
export interface ScriptObject extends ApiObject {
  readonly spec: {
    readonly selector?: LabelSelector
    readonly images?: readonly string[]
    readonly owner?: { readonly kind: string; readonly name?: string }
    readonly probability?: number
    readonly containers: readonly ContainerEntry[]
  }
  readonly status?: { readonly matchedPods?: number; readonly problem?: string }
}

/** A compiled script. */
export interface CompiledScript {
  readonly name: string
  readonly uid: string
  readonly layer: ScriptLayer
  /** The number of requirements. Among matching scripts, the one with the most applies. */
  readonly specificity: number
  readonly probability: number
  /** The script's error, if any. A script with an error matches no Pod. */
  readonly problem?: string
  matches(pod: Pod): boolean
}

/** Compiles a script once for all Pods. */
export function compileScript({ metadata, spec }: ScriptObject): CompiledScript {
  const { selector = {}, images, owner, probability = 1, containers } = spec
  const reading = toLabelRequirements(selector)
  const requirements = reading.kind === 'selector' ? reading.requirements : []
  const patterns = images?.map(wildcard)
  const isForOwner = ({ metadata: { ownerReferences } }: Pod) =>
    owner === undefined ||
    ownerReferences?.some(
      ({ controller, kind, name }) => controller === true && kind === owner.kind && (owner.name === undefined || owner.name === name),
    ) === true
  const isForImage = ({ spec: { containers: own = [] } }: Pod) =>
    patterns === undefined || own?.some(({ image = '' }) => patterns.some((matches) => matches(image))) === true
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    layer: new Map(containers.map((entry) => [entry.name, toWords(entry)])),
    specificity:
      requirements.length +
      [patterns, owner, owner?.name].filter((part) => part !== undefined).length +
      // A script with a probability takes precedence over an otherwise equal one without.
      (probability < 1 ? 0.5 : 0),
    probability,
    ...(reading.kind === 'malformed' && { problem: `spec.selector: ${reading.message}` }),
    matches: (pod) => reading.kind === 'selector' && matchesLabels(requirements, pod.metadata.labels) && isForOwner(pod) && isForImage(pod),
  }
}

/**
 * The script for a Pod: among matching ones the most specific, then the first by name. `draw` returns a number in [0, 1) for a script and
 * the Pod, which must always be the same.
 */
export function chooseScript(
  scripts: Iterable<CompiledScript>,
  pod: Pod,
  draw: (script: CompiledScript) => number,
): CompiledScript | undefined {
  let best: CompiledScript | undefined
  for (const script of scripts) {
    if (best !== undefined && isBefore(best, script)) continue
    if (script.matches(pod) && (script.probability >= 1 || draw(script) < script.probability)) best = script
  }
  return best
}

function isBefore(one: CompiledScript, other: CompiledScript): boolean {
  return one.specificity === other.specificity ? one.name < other.name : one.specificity > other.specificity
}

/** The first answer whose command matches. */
export function findAnswer<T extends Pick<ExecAnswer, 'command'>>(answers: readonly T[], words: readonly string[]): T | undefined {
  return answers.find(({ command }) => {
    const isOpen = command.at(-1) === '*'
    const patterns = isOpen ? command.slice(0, -1) : command
    if (isOpen ? words.length < patterns.length : words.length !== patterns.length) return false
    return patterns.every((pattern, index) => wildcard(pattern)(words[index] ?? ''))
  })
}

/** A time beyond the range of dates means for ever. */
function toMs(text: string): number {
  const parsed = parseDuration(text)
  return parsed === undefined ? Number.POSITIVE_INFINITY : durationToMs(parsed)
}

function toWords(entry: ContainerEntry): Words {
  const { pull, startAfter, starts, ready, live, startup, logs, exec, ports, usage, files, evict, shutdown } = entry
  const turns: Partial<Record<ProbeKind, readonly Turn[]>> = {
    ...(ready && { readiness: toTurns(ready) }),
    ...(live && { liveness: toTurns(live) }),
    ...(startup && { startup: toTurns(startup) }),
  }
  return {
    ...(pull && { pull: toPull(pull) }),
    ...(startAfter !== undefined && { startMs: toMs(startAfter) }),
    ...(starts && {
      runs: starts.map(({ runFor, ...rest }) => ({ ...(runFor !== undefined && { durationMs: toMs(runFor) }), ...rest })),
    }),
    ...(evict && { eviction: { atMs: toMs(evict.after), message: evict.message ?? evictedMessage } }),
    ...(shutdown && { shutdown: toShutdown(shutdown) }),
    ...(logs && { logs: logs.map(toLogEntry) }),
    ...(exec && { exec: exec.map(toAnswer) }),
    ...(usage && { usage: usage.map(toUsage).sort((one, other) => one.atMs - other.atMs) }),
    ...(files && { files: new Map(Object.entries(files)) }),
    ...(ports && { ports: new Map(ports.map((entry) => [entry.port, toPortAnswer(entry)])) }),
    turns,
  }
}

/** A repeating line has a period of at least one millisecond. */
function toLogEntry({ at = '0', every, end, text, stream }: LineEntry): LogEntry {
  const line = { text, isError: stream === 'Stderr' }
  if (end === true) return { kind: 'end', ...line }
  return every === undefined ? { kind: 'at', atMs: toMs(at), ...line } : { kind: 'every', everyMs: Math.max(1, toMs(every)), ...line }
}

/** The schema accepts texts that are not quantities; they are replaced by the default. */
function toUsage({ at = '0', cpu, memory }: NonNullable<ContainerEntry['usage']>[number]): UsageTurn {
  const parts = [...(cpu === undefined ? [] : [`cpu=${cpu}`]), ...(memory === undefined ? [] : [`memory=${memory}`])]
  return { atMs: toMs(at), ...parseUsage(parts.join(',')) }
}

function toAnswer({ command, exitCode = 0, stdout = '', stderr = '', after = '0' }: ExecEntry): ExecAnswer {
  return { command, exitCode, stdout, stderr, afterMs: toMs(after) }
}

function toPortAnswer({ http = {}, forwardTo }: PortEntry): PortAnswer {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(forwardTo ?? '') ?? []
  if (forwardTo !== undefined) return { kind: 'forward', host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  const { status = 200, contentType = 'text/plain; charset=utf-8', body = '' } = http
  return { kind: 'http', status, contentType, body }
}

function toPull({ after, error, times }: NonNullable<ContainerEntry['pull']>): NonNullable<Words['pull']> {
  const failures = error === undefined && times === undefined ? 0 : (times ?? Number.POSITIVE_INFINITY)
  return { ms: after === undefined ? 0 : toMs(after), failures, ...(failures > 0 && { error: error ?? pullProblem }) }
}

function toShutdown({ after, exitCode, ignoreTerm }: NonNullable<ContainerEntry['shutdown']>): NonNullable<Words['shutdown']> {
  const ms = ignoreTerm === true ? Number.POSITIVE_INFINITY : after === undefined ? 0 : toMs(after)
  return { ms, ...(exitCode !== undefined && { exitCode }) }
}

function toTurns(entries: readonly TurnEntry[]): Turn[] {
  return entries
    .map(({ at, pass, output }) => ({ atMs: toMs(at), passes: pass, ...(output !== undefined && { output }) }))
    .sort((one, other) => one.atMs - other.atMs)
}
