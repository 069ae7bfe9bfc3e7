import type { LogChunk, Stream } from '@orch/core/contracts'
import { failed, StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { containersOf, hostOf, hostsFile, type PodLife, userOf } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import { aborted, type Clock, messageOf, PushStream, passTurns, sleep } from '@orch/platform'
import type { FindRunning } from './own-commands.ts'
import type { PodVolumes } from './pod-volumes.ts'
import { type ContainerFiles, containerFiles, resolvePath } from './programs/container-files.ts'
import type { PortHandler, PortSource, Program, ProgramSource, ProgramStreams, RunningContainer, TerminalSize } from './programs/program.ts'
import { builtInPrograms } from './programs/shell.ts'
import { plainInput, printedText, typedInput } from './programs/terminal.ts'
import type { Session, Program as SessionProgram } from './sessions.ts'

/** A Pod that a node has. */
export interface PodOfNode {
  readonly pod: Pod
  /** Undefined if it does not run. */
  readonly life: PodLife | undefined
}

export interface ContainerSessionsOptions {
  readonly names: Names
  readonly clock: Clock
  withAddresses(pod: Pod): Pod
  envOf(pod: Pod, container: string): Readonly<Record<string, string>>
  /** The mounted files of a container, by path. */
  filesOf(pod: Pod, container: string): ReadonlyMap<string, string>
  readonly volumes: PodVolumes
  /** Searched in order before the built-in programs. */
  readonly programs: readonly ProgramSource[]
  /** Searched in order. */
  readonly ports: readonly PortSource[]
  endRun(place: PodOfNode, container: string, exitCode: number): void
}

interface Asked {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** One run of a container, from its first session on. */
interface Run {
  readonly id: string
  readonly container: RunningContainer
  readonly ending: AbortController
  /** True if its own program runs, with a client attached. */
  isAttached: boolean
}

/** Exit status of a killed program, and of one that Control-C has ended. */
const codes = { killed: 137, interrupted: 130, notStarted: 126 } as const
const programWork = 'program of a container'
const partBytesMax = 64 * 1024

/** Programs and ports of the containers of simulated Pods. */
export class ContainerSessions {
  readonly #options: ContainerSessionsOptions
  readonly #builtIn: ProgramSource
  /** By the uid of the Pod, and the name of the container. */
  readonly #runs = new Map<string, Map<string, Run>>()

  constructor(options: ContainerSessionsOptions) {
    this.#options = options
    this.#builtIn = builtInPrograms((container, command) => this.#find(container, command))
  }

  exec(
    place: PodOfNode,
    { container: name, command, ...asked }: Asked & { readonly container: string; readonly command: readonly string[] },
  ): SessionProgram {
    const run = this.#runOf(place, name)
    if (run === undefined) throw refused(`container not found (${JSON.stringify(name)})`)
    const program = this.#find(run.container, command) ?? missing
    return (session) => runProgram({ program, command, run, asked }, session)
  }

  /** Finds a running container and the program of a command in it; undefined if the container does not run or has no such program. */
  find(place: PodOfNode, name: string, command: readonly string[]): ReturnType<FindRunning> {
    const container = this.#runOf(place, name)?.container
    const program = container && this.#find(container, command)
    return program && { container, program }
  }

  async filesOf(place: PodOfNode, name: string): Promise<ContainerFiles> {
    const run = this.#runOf(place, name)
    if (run === undefined) throw new Error(`the container ${name} does not run`)
    return run.container.currentFiles()
  }

  /** Attaches to the run of a container, until it ends. Its program runs for the first client with input; other clients see its log. */
  attach(
    place: PodOfNode,
    { container: name, ...asked }: Asked & { readonly container: string },
    output: () => Stream<LogChunk>,
  ): SessionProgram {
    const run = this.#runOf(place, name)
    const { metadata } = place.pod
    if (run === undefined) throw refused(`container ${name} not found in pod ${metadata.name}_${metadata.namespace}`)
    const { stdin, tty, command, args } = containersOf(place.pod).find((one) => one.name === name) ?? {}
    const own = [...(command ?? []), ...(args ?? [])]
    const program = this.#find(run.container, own.length === 0 ? ['sh'] : own)
    if (stdin !== true || !asked.stdin || program === undefined || run.isAttached) return (session) => showOutput(run, output(), session)
    run.isAttached = true
    return async (session) => {
      try {
        const code = await runProgram({ program, command: own, run, asked: { ...asked, tty: tty === true } }, session)
        if (!session.signal.aborted) this.#options.endRun(place, name, code)
        return 0
      } finally {
        run.isAttached = false
      }
    }
  }

  /** The handler of a port; undefined if no script serves it. */
  portOf(pod: Pod, port: number): PortHandler | undefined {
    return this.#options.ports.map((source) => source(pod, port)).find((found) => found !== undefined)
  }

  /** Serves one connection to a port. */
  forward(place: PodOfNode, port: number): SessionProgram {
    const { pod, life } = place
    const name = life?.names.find((one) => life.container(one)?.isRunning)
    const run = name === undefined ? undefined : this.#runOf(place, name)
    if (run === undefined) throw refused(`pod not found ("${pod.metadata.name}_${pod.metadata.namespace}")`)
    const handler = this.portOf(pod, port)
    const where = `port ${port} of pod ${pod.metadata.namespace}/${pod.metadata.name}`
    if (handler === undefined) throw refused(`no script answers on ${where}: dial tcp4 127.0.0.1:${port}: connect: connection refused`)
    return async (session) => {
      const signal = AbortSignal.any([session.signal, run.ending.signal])
      const input = plainInput({ input: session.input, onSize() {} })
      const write = (bytes: string | Uint8Array) => writeParts(session, 'stdout', Buffer.from(bytes))
      let opening: Promise<unknown> | undefined
      const opensWith = (connected: Promise<unknown>) => {
        opening = connected
      }
      try {
        const serving = Promise.race([handler({ input, signal, write, opensWith }), aborted(signal)])
        await Promise.race([opening, serving])
        session.opened()
        await serving
      } catch (error) {
        if (error instanceof StatusError || signal.aborted) throw error
        throw refused(`the script for ${where} has failed: ${messageOf(error)}`)
      }
      return undefined
    }
  }

  observe(uid: string, life: PodLife): void {
    for (const [name, run] of this.#runs.get(uid) ?? []) if (life.container(name)?.runId !== run.id) this.#end(uid, name, run)
  }

  forget(uid: string): void {
    for (const [name, run] of this.#runs.get(uid) ?? []) this.#end(uid, name, run)
    this.#runs.delete(uid)
    this.#options.volumes.forget(uid)
  }

  close(): void {
    for (const uid of [...this.#runs.keys()]) this.forget(uid)
  }

  #end(uid: string, name: string, run: Run): void {
    run.ending.abort()
    this.#runs.get(uid)?.delete(name)
  }

  #find(container: RunningContainer, command: readonly string[]): Program | undefined {
    for (const source of this.#options.programs) {
      const program = source(container, command)
      if (program !== undefined) return program
    }
    return this.#builtIn(container, command)
  }

  /** Undefined if the container does not run. */
  #runOf({ pod, life }: PodOfNode, name: string): Run | undefined {
    const { uid = '' } = pod.metadata
    const id = life?.container(name)?.runId
    if (id === undefined) return undefined
    const runs = this.#runs.get(uid) ?? new Map<string, Run>()
    this.#runs.set(uid, runs)
    const known = runs.get(name)
    if (known?.id === id) return known
    known?.ending.abort()
    const run: Run = { id, container: containerIn(pod, name, this.#options), ending: new AbortController(), isAttached: false }
    runs.set(name, run)
    return run
  }
}

/** A refusal in the words of a kubelet. */
function refused(message: string) {
  return failed(500, '', message)
}

const missing: Program = async (_container, [name = ''], streams) => {
  const where = name.includes('/') ? `stat ${name}: no such file or directory` : 'executable file not found in $PATH'
  const text = `OCI runtime exec failed: exec failed: unable to start container process: exec: ${JSON.stringify(name)}: ${where}: unknown\n`
  await streams.write('stderr', text)
  return codes.notStarted
}

interface ProgramCall {
  readonly program: Program
  readonly command: readonly string[]
  readonly run: Run
  readonly asked: Asked
}

/** Runs a program until it ends, its container ends, or its client disconnects. */
async function runProgram({ program, command, run, asked }: ProgramCall, session: Session): Promise<number> {
  session.opened()
  const interrupted = new AbortController()
  const signal = AbortSignal.any([session.signal, run.ending.signal, interrupted.signal])
  const streams = streamsOf(session, { asked, signal, interrupted })
  const ended = aborted(signal).then(() => (interrupted.signal.aborted ? codes.interrupted : codes.killed))
  const code = await Promise.race([program(run.container, command, streams), ended])
  return code === undefined ? 0 : code
}

/** Sends the log of a container until the container ends or the client disconnects. */
async function showOutput({ ending }: Run, output: Stream<LogChunk>, session: Session): Promise<number> {
  session.opened()
  const signal = AbortSignal.any([ending.signal, session.signal])
  const show = async () => {
    for await (const { bytes } of output) await writeParts(session, 'stdout', bytes)
  }
  try {
    await Promise.race([show(), aborted(signal)])
    return 0
  } finally {
    output.close()
  }
}

interface StreamOptions {
  readonly asked: Asked
  readonly signal: AbortSignal
  readonly interrupted: AbortController
}

function streamsOf(session: Session, { asked, signal, interrupted }: StreamOptions): ProgramStreams {
  const interrupts: ProgramStreams['interrupts'] = { handle: undefined }
  let size: TerminalSize | undefined
  const onSize = (seen: TerminalSize) => {
    size = seen
  }
  const write: ProgramStreams['write'] = async (to, text) => {
    if (asked.tty) await writeParts(session, 'stdout', printedText(text))
    else if (asked[to]) await writeParts(session, to, Buffer.from(text))
  }
  const onInterrupt = () => (interrupts.handle ?? (() => interrupted.abort()))()
  const echo = (text: string) => writeParts(session, 'stdout', Buffer.from(text, 'latin1'))
  const { input } = session
  const stdin = !asked.stdin
    ? nothing()
    : asked.tty
      ? typedAhead(typedInput({ input, onSize, onInterrupt, echo }))
      : plainInput({ input, onSize })
  return {
    stdin,
    isTerminal: asked.tty,
    get size() {
      return size
    },
    signal,
    interrupts,
    write,
  }
}

const typedBytesMax = 64 * 1024

/** Reads input before the program asks for it, so that Control-C takes effect. */
function typedAhead(lines: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let drained: (() => void) | undefined
  const wake = () => drained?.()
  const waiting = new PushStream<Uint8Array>({ onDrain: wake, onClose: wake })
  const read = async () => {
    for await (const line of lines) {
      waiting.push(line, line.length)
      if (waiting.waitingBytes <= typedBytesMax) continue
      const { promise, resolve } = Promise.withResolvers<void>()
      drained = resolve
      await promise
    }
    waiting.end()
  }
  // The client has disconnected during output.
  read().catch(() => waiting.end())
  return waiting
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function writeParts(session: Session, kind: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += partBytesMax) await session.write({ kind, bytes: bytes.subarray(at, at + partBytesMax) })
}

function containerIn(
  pod: Pod,
  name: string,
  { names, clock, withAddresses, envOf, filesOf, volumes }: ContainerSessionsOptions,
): RunningContainer {
  const host = hostOf(pod, names.clusterDomain)
  const container = containersOf(pod).find((one) => one.name === name)
  const scripted = [...filesOf(pod, name)].map(([path, text]) => [resolvePath('/', path), text] as const).filter(([path]) => path !== '/')
  const files = containerFiles(
    { '/etc/hostname': `${host.hostname}\n`, '/etc/hosts': hostsFile(withAddresses(pod), host), ...Object.fromEntries(scripted) },
    clock.now(),
  )
  const env = envOf(pod, name)
  return {
    pod,
    name,
    host,
    user: userOf(pod, container),
    directory: resolvePath('/', container?.workingDir ?? ''),
    env,
    files,
    async currentFiles() {
      await volumes.mount({ pod, name, files, env })
      return files
    },
    now: () => clock.now(),
    sleep: (ms, signal, options) => sleep(clock, ms, signal, options),
    async turn() {
      clock.work?.begin(programWork)
      await passTurns(1)
      clock.work?.end(programWork)
    },
  }
}
