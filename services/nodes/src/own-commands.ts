import { memo } from '@orch/core/memo'
import type { Names } from '@orch/core/names'
import { containersOf, expandReferences, type PodContainer, type ProbeKind, type ScriptLayer, unscripted } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import { messageOf } from '@orch/platform'
import type { ContainerProgram, ContainerRun } from './code-scripts.ts'
import { type ContainerAction, callPort, type Finding, type PortAccess, servedActions } from './port-calls.ts'
import { hopefulSleeps } from './program-runs.ts'
import { resolvePath } from './programs/container-files.ts'
import type { Program, ProgramStreams, RunningContainer } from './programs/program.ts'
import { parseScript, ScriptError } from './programs/shell-script.ts'

interface CommandSpec {
  readonly command?: readonly string[] | null
  readonly args?: readonly string[] | null
  readonly stdin?: boolean
  readonly env?: readonly { readonly name: string }[] | null
  readonly volumeMounts?: readonly { readonly mountPath: string }[] | null
}

/** True for a path that no image has a file at. */
type IsOwnPath = (path: string) => boolean
type AreKnown = (words: readonly string[], isOwnPath: IsOwnPath) => boolean

const areOwnPaths: AreKnown = (words, isOwnPath) => words.every((word) => word.startsWith('-') || isOwnPath(word))
/** The operands of tests of files. */
const areOwnFiles: AreKnown = (words, isOwnPath) =>
  words.every((word, index) => !/^-[defrs]$/.test(words[index - 1] ?? '') || isOwnPath(word))

/** Programs whose result depends neither on the image nor on its files, with the known arguments. */
const independent: ReadonlyMap<string, AreKnown> = new Map<string, AreKnown>([
  ['true', () => true],
  ['false', () => true],
  ['echo', ([first, ...rest]) => !/^-[neE]+$/.test((first === '-n' ? rest[0] : first) ?? '')],
  ['env', ({ length }) => length === 0],
  ['printenv', ([first = '', ...rest]) => rest.length === 0 && !first.startsWith('-')],
  ['hostname', ({ length }) => length === 0],
  ['date', ({ length }) => length === 0],
  ['sleep', ({ length }) => length > 0],
  ['id', (words) => words.length === 0 || /^-[ugG]$/.test(words.join(' '))],
  ['whoami', ({ length }) => length === 0],
  ['pwd', ({ length }) => length === 0],
  ['seq', ({ length }) => length === 1 || length === 2],
  ['tail', (words) => words.join(' ') === '-f /dev/null'],
  ['test', areOwnFiles],
  ['[', areOwnFiles],
  ['[[', areOwnFiles],
  ...['cat', 'ls', 'mkdir', 'rm', 'touch'].map((name) => [name, areOwnPaths] as const),
])
/** Image-independent commands that only a shell has. */
const independentInShell: ReadonlyMap<string, AreKnown> = new Map<string, AreKnown>([
  [':', () => true],
  ['break', ({ length }) => length === 0],
  ['continue', ({ length }) => length === 0],
  ['export', () => true],
  ['exit', ([code = '0', ...rest]) => rest.length === 0 && /^\d+$|\$/.test(code)],
])
const shells = new Set(['sh', 'bash', 'ash'])
const messageBytesMax = 4096
/** Maximum characters of a line that are not yet in the log. */
const partLengthMax = 64 * 1024
/** Linux starts no program with more bytes of arguments. */
const argumentsMax = 2 * 1024 * 1024
/** Number of restarts after which a container that fails counts as endless. */
const hopefulRestarts = 5
/** Exit code of a container that cannot start. */
const notStartedCode = 128

/** Finds a running container and the program of a command in it; undefined if the container does not run or has no such program. */
export type FindRunning = (
  name: string,
  command: readonly string[],
) => { readonly container: RunningContainer; readonly program: Program } | undefined

/** The command of a container that runs as its program. */
interface OwnCommand {
  readonly words: readonly string[]
  readonly messagePath: string
  readonly asked: readonly ProbeKind[]
}

type OwnCommands = ReadonlyMap<string, OwnCommand>

/**
 * The commands of a Pod by container. A container has none if the simulation cannot know what its command does, if it waits for input, or
 * if a script defines its runs or logs.
 */
export function ownCommands(pod: Pod, names: Names, layers: readonly ScriptLayer[]): OwnCommands {
  const { containers, initContainers } = pod.spec
  const commands = new Map<string, OwnCommand>()
  for (const container of [...(containers ?? []), ...(initContainers ?? [])]) {
    const { words } = independentWords(container)
    const messagePath = resolvePath('/', container.terminationMessagePath || '/dev/termination-log')
    if (words !== undefined) commands.set(container.name, { words, messagePath, asked: knownProbes(container, isQuick) })
  }
  if (commands.size === 0) return commands
  const free = unscripted(pod, names, layers)
  return new Map([...commands].filter(([name]) => free.has(name)))
}

/** Commands as programs: the output is the log, and the exit code is that of the container. */
export function ownPrograms(commands: OwnCommands, find: FindRunning): Map<string, ContainerProgram> {
  return new Map([...commands].map(([name, command]) => [name, (run) => runCommand(run, command, find)]))
}

/** Makes the call of a probe or a hook. Never rejects. */
export async function callAction(
  container: PodContainer,
  action: ContainerAction,
  access: PortAccess & { find: FindRunning },
): Promise<Finding> {
  try {
    return await (action.exec == null
      ? callPort(action, container, access)
      : runProbe(container.name, action.exec.command ?? [], access.find))
  } catch (error) {
    return { passes: false, output: messageOf(error) }
  }
}

/** The result of a probe's command in a container: its sleeps do not wait, and a command with too many ends. */
async function runProbe(name: string, command: readonly string[], find: FindRunning): Promise<Finding> {
  const found = find(name, command)
  let output = ''
  const write: ProgramStreams['write'] = async (_to, text) => {
    output = (output + Buffer.from(text).toString()).slice(0, messageBytesMax)
  }
  const ending = new AbortController()
  let sleeps = 0
  const sleep: RunningContainer['sleep'] = async () => {
    sleeps += 1
    if (sleeps >= hopefulSleeps) ending.abort()
  }
  const code = (await found?.program({ ...found.container, sleep }, command, streamsOf(ending, write))) ?? 0
  return { passes: code === 0, output: code === 0 ? '' : output.trimEnd() }
}

/** The probes of a container whose commands have a known result, without delay. */
function knownProbes(container: PodContainer, isKnown: (command: readonly string[]) => boolean): ProbeKind[] {
  return (['startup', 'readiness', 'liveness'] as const).filter((kind) => {
    const command = container[`${kind}Probe`]?.exec?.command ?? []
    return isKnown(command) && independentWords({ ...container, command, args: null }).words !== undefined
  })
}

const isQuick = (command: readonly string[]) => command.every((word) => !/\b(?:sleep|tail|while|until)\b/.test(word))
/** True for a command that fails whatever program runs beside it. */
const alwaysFails = (command: readonly string[]) => /^(?:\S*\/)?false$|^\S*sh -c exit 0*[1-9]\d*$/.test(command.join(' '))

/** A layer for the probes and hooks of a Pod that are called: those with known commands, and those of served ports. */
export function askedActions(pod: Pod, commands: OwnCommands, isServed: (port: number) => boolean): ScriptLayer {
  const all = containersOf(pod).map((container) => {
    const asked = [...(commands.get(container.name)?.asked ?? knownProbes(container, alwaysFails)), ...servedActions(container, isServed)]
    return [container.name, { asked }] as const
  })
  return new Map(all.filter(([, { asked }]) => asked.length > 0))
}

/** The layers of a Pod, below them a layer for its commands: their runs end by themselves, and have no generated log. */
export function withOwnCommands(commands: OwnCommands, layers: readonly ScriptLayer[]): readonly ScriptLayer[] {
  const words = { runs: [{ durationMs: Number.POSITIVE_INFINITY }], logs: [] }
  return commands.size === 0 ? layers : [new Map([...commands.keys()].map((name) => [name, words])), ...layers]
}

/** Memoized, as each command of a script asks for the script of its Pod again. */
const independentWords = memo(
  ({ command, args, stdin, env, volumeMounts }: CommandSpec): { readonly words: readonly string[] | undefined } => {
    if (stdin === true) return { words: undefined }
    const words = [...(command ?? []), ...(args ?? [])]
    const declared = new Set((env ?? []).map(({ name }) => name))
    const sample = words.map((word) => expandReferences(word, (name) => (declared.has(name) ? 'x' : undefined)))
    const places = [
      '/tmp',
      '/dev',
      '/etc/hosts',
      '/etc/hostname',
      ...(volumeMounts ?? []).map(({ mountPath }) => resolvePath('/', mountPath)),
    ]
    const isOwnPath: IsOwnPath = (path) =>
      path.startsWith('/') && places.some((place) => `${resolvePath('/', path)}/`.startsWith(`${place}/`))
    return { words: isIndependent(sample, isOwnPath) ? words : undefined }
  },
)

function isIndependent([path = '', ...rest]: readonly string[], isOwnPath: IsOwnPath): boolean {
  const name = path.replace(/^\/(?:usr\/)?bin\//, '')
  if (!shells.has(name)) return independent.get(name)?.(rest, isOwnPath) === true
  const [flag = '', script, ...more] = rest
  if (flag !== '-c' || script === undefined || more.length > 0) return false
  try {
    return parseScript(script).commands.every((words) => isIndependentInShell(words, isOwnPath))
  } catch (error) {
    if (error instanceof ScriptError) return false
    throw error
  }
}

function isIndependentInShell([name = '', ...rest]: readonly string[], isOwnPath: IsOwnPath): boolean {
  return name === 'exec'
    ? isIndependent(rest, isOwnPath)
    : (independentInShell.get(name)?.(rest, isOwnPath) ?? isIndependent([name, ...rest], isOwnPath))
}

async function runCommand(run: ContainerRun, { words, messagePath }: OwnCommand, find: FindRunning): Promise<void> {
  const command: string[] = []
  let room = argumentsMax
  for (const word of words) {
    const expanded = expandReferences(word, (name) => run.env[name])
    room -= expanded.length
    if (room < 0) run.exit(notStartedCode, `exec ${words[0]}: argument list too long`)
    command.push(expanded)
  }
  const found = find(run.container, command)
  if (found === undefined) return
  const { container, program } = found
  const lines = linesTo(run.log)
  const code = (await program(sleepingIn(container, run), command, streamsOf(run, lines.write))) ?? 0
  lines.end()
  // A stopped container ends when its script says so; this sleep does not return then.
  if (run.signal.aborted) await run.sleep(0)
  const entry = container.files.get(messagePath)
  const message = entry?.kind === 'file' ? Buffer.from(entry.bytes.subarray(0, messageBytesMax)).toString() : ''
  run.exit(code, message || undefined)
}

/** An automatic clock does not run ahead for a sleep without an end, nor for a container that starts again whenever it ends, or too often. */
function sleepingIn(container: RunningContainer, { pod: { spec }, container: name, restarts, signal }: ContainerRun): RunningContainer {
  const init = spec.initContainers?.find((one) => one.name === name)
  const main = spec.containers?.find((one) => one.name === name)
  const policy = init === undefined ? main?.restartPolicy || spec.restartPolicy || 'Always' : init.restartPolicy
  const isEndless = policy === 'Always' || restarts >= hopefulRestarts
  let sleeps = 0
  const sleep: RunningContainer['sleep'] = (ms, ending) => {
    sleeps += 1
    const background = isEndless || ms === Number.POSITIVE_INFINITY || sleeps > hopefulSleeps
    return container.sleep(ms, AbortSignal.any([signal, ending]), { background })
  }
  return { ...container, sleep }
}

function streamsOf({ signal }: Pick<ContainerRun, 'signal'>, write: ProgramStreams['write']): ProgramStreams {
  return { stdin: noInput(), isTerminal: false, size: undefined, signal, interrupts: { handle: undefined }, write }
}

async function* noInput(): AsyncGenerator<Uint8Array> {}

/** Writes whole lines; the last one may have no end. */
function linesTo(log: ContainerRun['log']): { readonly write: ProgramStreams['write']; end(): void } {
  let rest = ''
  return {
    async write(_to, text) {
      const all = rest + (typeof text === 'string' ? text : Buffer.from(text).toString())
      const end = all.lastIndexOf('\n')
      if (end >= 0) log(all.slice(0, end + 1))
      rest = all.slice(end + 1)
      if (rest.length < partLengthMax) return
      log(rest, true)
      rest = ''
    },
    end() {
      if (rest !== '') log(rest, true)
    },
  }
}
