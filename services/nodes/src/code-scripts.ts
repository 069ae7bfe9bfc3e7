import type { Server } from 'node:net'
import { compileScript, findAnswer, type ScriptLayer } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import { messageOf } from '@orch/platform'
import type { ContainerFiles } from './programs/container-files.ts'
import type { PortHandler, PortSource, ProgramSource, ProgramStreams, RunningContainer } from './programs/program.ts'
import { handledBy } from './programs/scripted.ts'

/** The Pods, and the containers of them, that a script in code is for. Absent members do not matter. */
export interface PodMatch {
  readonly namespace?: string
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  /** Patterns with `*`, one of which an image of the Pod must have. */
  readonly images?: readonly string[]
  /** The controller of the Pod. */
  readonly owner?: { readonly kind: string; readonly name?: string }
  /** A container of any type. By default all of `spec.containers`. */
  readonly container?: string
}

/** One run of a container, as the function that runs in it sees it. */
export interface ContainerRun {
  /** For reading alone: the server has it, too. */
  readonly pod: Pod
  readonly container: string
  /** Restarts before this run. */
  readonly restarts: number
  /** The environment of the container, with values of ConfigMaps and Secrets. */
  readonly env: Readonly<Record<string, string>>
  /** The files of the container and of its volumes, with the current objects in them. */
  files(): Promise<ContainerFiles>
  /** Raised when the container is to stop, or has stopped. */
  readonly signal: AbortSignal
  /** Resolves after a duration such as `5s`, or milliseconds, of the server's clock. Rejects when the signal is raised. */
  sleep(duration: string | number): Promise<void>
  /** Writes a line of the container's log, or several with line breaks between them. With `isPartial` the last one has no end. */
  log(text: string, isPartial?: boolean): void
  /** The container is ready from now on, or, with false, is not. A readiness probe sees it at its next call. */
  ready(isReady?: boolean): void
  /** Ends the container with this exit code, and a termination message if one is given. The function does not return. */
  exit(code: number, message?: string): never
}

/**
 * The program of a container. When it returns the container ends with 0, and with 139 when it throws. One that does not end runs until the
 * container is stopped.
 */
export type ContainerProgram = (run: ContainerRun) => unknown

/** A command in a container, as the function that answers it sees it. */
interface CommandCall {
  /** For reading alone: the server has it, too. */
  readonly pod: Pod
  readonly container: string
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The input of the client. Ends when the client ends it; empty if the client sends none. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Raised when the client has left or the container has ended. */
  readonly signal: AbortSignal
  /** Each resolves when the client has taken most of it. */
  stdout(text: string | Uint8Array): Promise<void>
  stderr(text: string | Uint8Array): Promise<void>
}

/** Answers a command; its exit status is 0 unless a number is returned. */
export type CommandProgram = (call: CommandCall) => unknown

export interface CodeScript {
  readonly match: PodMatch
  readonly onStart: ContainerProgram | undefined
  /** Commands by patterns with `*` for each word; the first that matches counts. */
  readonly commands: readonly { readonly command: readonly string[]; readonly program: CommandProgram }[]
  readonly ports: ReadonlyMap<number, PortHandler | Server>
}

/** Exit status of a command whose function has failed. */
const failedCode = 1

/** The commands that scripts in code answer. */
export function codePrograms(scripts: Iterable<CodeScript>): ProgramSource {
  return ({ pod, name }, command) => {
    const own = [...scripts].filter(({ match }) => isFor(match, pod) && isForContainer(match, pod, name))
    const found = findAnswer(
      own.flatMap(({ commands }) => commands),
      command,
    )
    return found && ((container, words, streams) => answer(found.program, { container, words, streams }))
  }
}

/** The ports that scripts in code serve. */
export function codePorts(scripts: Iterable<CodeScript>): PortSource {
  return (pod, port) => {
    const found = [...scripts].find(({ match, ports }) => ports.has(port) && isFor(match, pod))?.ports.get(port)
    return typeof found === 'object' ? handledBy(found) : found
  }
}

interface Answering {
  readonly container: RunningContainer
  readonly words: readonly string[]
  readonly streams: ProgramStreams
}

async function answer(program: CommandProgram, { container, words, streams }: Answering): Promise<number> {
  const { stdin, signal, write } = streams
  const { pod, name, env } = container
  const to = (stream: 'stdout' | 'stderr') => (text: string | Uint8Array) => write(stream, text)
  try {
    const code = await program({ pod, container: name, command: words, env, stdin, signal, stdout: to('stdout'), stderr: to('stderr') })
    return typeof code === 'number' ? code : 0
  } catch (error) {
    if (!signal.aborted) await write('stderr', `${printThrown(error)}\n`)
    return failedCode
  }
}

/** A thrown value as it is shown to users: a script may throw anything. */
export function printThrown(error: unknown): string {
  return error instanceof Error && typeof error.message === 'string' ? `${error.name}: ${error.message}` : messageOf(error)
}

function isForContainer({ container }: PodMatch, { spec }: Pod, name: string): boolean {
  return container === undefined ? (spec.containers ?? []).some((one) => one.name === name) : container === name
}

/** The run of a program: for ever, and not ready until it says so. */
const words = { runs: [{ durationMs: Number.POSITIVE_INFINITY }], turns: { readiness: [{ atMs: 0, passes: false }] } }

/** The programs of the containers of a Pod, by their names: for each container the first script that matches. */
export function programsFor(scripts: Iterable<CodeScript>, pod: Pod): Map<string, ContainerProgram> {
  const programs = new Map<string, ContainerProgram>()
  for (const { match, onStart } of scripts) {
    if (onStart === undefined || !isFor(match, pod)) continue
    const names = (pod.spec.containers ?? []).map(({ name }) => name)
    for (const name of match.container === undefined ? names : [match.container]) if (!programs.has(name)) programs.set(name, onStart)
  }
  return programs
}

/** The commands of programs, which take precedence over those of objects. */
export function layerOf(programs: ReadonlyMap<string, ContainerProgram>): ScriptLayer {
  return new Map([...programs.keys()].map((name) => [name, words]))
}

function isFor({ namespace, name, labels = {}, images, owner }: PodMatch, pod: Pod): boolean {
  const { metadata } = pod
  if ((namespace !== undefined && namespace !== metadata.namespace) || (name !== undefined && name !== metadata.name)) return false
  const spec = { selector: { matchLabels: labels }, ...(images && { images }), ...(owner && { owner }), containers: [] }
  return compileScript({ apiVersion: '', kind: '', metadata: {}, spec }).matches(pod)
}
