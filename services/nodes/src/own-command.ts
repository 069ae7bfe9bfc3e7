import type { Names } from '@orch/core/names'
import { type ScriptLayer, unscripted } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import type { ContainerProgram, ContainerRun } from './code-scripts.ts'
import { resolvePath } from './programs/container-files.ts'
import type { Program, ProgramStreams, RunningContainer } from './programs/program.ts'
import { commandsOf } from './programs/shell.ts'

/** The fields of a container that say what it runs. */
interface CommandSpec {
  readonly command?: readonly string[] | null
  readonly args?: readonly string[] | null
  readonly stdin?: boolean
  readonly env?: readonly { readonly name: string }[] | null
}

/** Programs whose result depends neither on the image nor on its files. */
const independent = new Set(['true', 'false', ':', 'echo', 'env', 'printenv', 'hostname', 'date', 'sleep', 'exit'])
const shells = new Set(['sh', 'bash', 'ash'])
const messageBytesMax = 4096

/** Finds a running container and the program of a command in it; undefined if the container does not run or has no such program. */
export type FindRunning = (
  name: string,
  command: readonly string[],
) => { readonly container: RunningContainer; readonly program: Program } | undefined

/**
 * The commands of a Pod's containers as their programs: the output is the log, and the exit status that of the container. A container has
 * none if the simulation cannot know what its command does, if it waits for input, or if a script says how it runs.
 */
export function ownPrograms(pod: Pod, names: Names, layers: readonly ScriptLayer[], find: FindRunning): Map<string, ContainerProgram> {
  const commands = ownCommands(pod, names, layers)
  return new Map([...commands].map(([name, command]) => [name, (run) => runCommand(run, command, find)]))
}

/** The layers of a Pod with the words of own programs: those end by themselves, and no lines are made up for them. */
export function withOwnPrograms(pod: Pod, names: Names, layers: readonly ScriptLayer[]): readonly ScriptLayer[] {
  const words = { runs: [{ durationMs: Number.POSITIVE_INFINITY }], logs: [] }
  const commands = ownCommands(pod, names, layers)
  return commands.size === 0 ? layers : [new Map([...commands.keys()].map((name) => [name, words])), ...layers]
}

interface OwnCommand {
  readonly words: readonly string[]
  readonly messagePath: string
}

function ownCommands(pod: Pod, names: Names, layers: readonly ScriptLayer[]): ReadonlyMap<string, OwnCommand> {
  const { containers, initContainers } = pod.spec
  const commands = new Map<string, OwnCommand>()
  for (const { name, ...spec } of [...(containers ?? []), ...(initContainers ?? [])]) {
    const words = independentWords(spec)
    const messagePath = resolvePath('/', spec.terminationMessagePath || '/dev/termination-log')
    if (words !== undefined) commands.set(name, { words, messagePath })
  }
  if (commands.size === 0) return commands
  const free = unscripted(pod, names, layers)
  return new Map([...commands].filter(([name]) => free.has(name)))
}

function independentWords({ command, args, stdin, env }: CommandSpec): readonly string[] | undefined {
  if (!command?.length || stdin === true) return undefined
  const words = [...command, ...(args ?? [])]
  const declared = new Set((env ?? []).map(({ name }) => name))
  const sample = words.map((word) => expandReferences(word, (name) => (declared.has(name) ? 'x' : undefined)))
  return isIndependent(sample) ? words : undefined
}

function isIndependent([path = '', ...rest]: readonly string[]): boolean {
  const name = path.replace(/^\/(?:usr\/)?bin\//, '')
  if (!shells.has(name)) return independent.has(name)
  const [flag = '', script, ...more] = rest
  if (!/^-[a-z]*c$/.test(flag) || script === undefined || more.length > 0) return false
  return commandsOf(script)?.every((words) => isIndependent(words[0] === 'exec' ? words.slice(1) : words)) === true
}

/** `$(NAME)` as a kubelet reads it in a command: the value of a variable, or, for an unknown one, the same text; `$$` is a dollar sign. */
function expandReferences(word: string, lookUp: (name: string) => string | undefined): string {
  return word.replace(/\$\$|\$\(([^)]*)\)/g, (all, name?: string) => (name === undefined ? '$' : (lookUp(name) ?? all)))
}

async function runCommand(run: ContainerRun, { words, messagePath }: OwnCommand, find: FindRunning): Promise<void> {
  const command = words.map((word) => expandReferences(word, (name) => run.env[name]))
  const found = find(run.container, command)
  if (found === undefined) return
  const { container, program } = found
  const lines = linesTo((text) => run.log(text))
  const code = (await program(sleepingIn(container, run), command, streamsOf(run, lines.write))) ?? 0
  lines.end()
  if (run.signal.aborted) return
  const entry = container.files.get(messagePath)
  run.exit(code, entry?.kind === 'file' ? Buffer.from(entry.bytes.subarray(0, messageBytesMax)).toString() : undefined)
}

/** An automatic clock does not run ahead for a sleep without an end, nor for a container that is started again whenever it ends. */
function sleepingIn(container: RunningContainer, { pod, signal }: ContainerRun): RunningContainer {
  const isAlways = (pod.spec.restartPolicy ?? 'Always') === 'Always'
  return { ...container, sleep: (ms) => container.sleep(ms, signal, { background: isAlways || ms === Number.POSITIVE_INFINITY }) }
}

function streamsOf({ signal }: ContainerRun, write: ProgramStreams['write']): ProgramStreams {
  return { stdin: noInput(), isTerminal: false, size: undefined, signal, interrupts: { handle: undefined }, write }
}

async function* noInput(): AsyncGenerator<Uint8Array> {}

/** Writes whole lines; the last one may have no end. */
function linesTo(log: (text: string) => void): { readonly write: ProgramStreams['write']; end(): void } {
  let rest = ''
  return {
    async write(_to, text) {
      const all = rest + (typeof text === 'string' ? text : Buffer.from(text).toString())
      const end = all.lastIndexOf('\n')
      if (end >= 0) log(all.slice(0, end))
      rest = all.slice(end + 1)
    },
    end() {
      if (rest !== '') log(rest)
    },
  }
}
