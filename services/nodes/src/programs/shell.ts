import { commands, home } from './commands.ts'
import { FileError, noSpace, resolvePath } from './container-files.ts'
import type { Program, ProgramSource, ProgramStreams, RunningContainer } from './program.ts'

/** Maximum characters of a script, and of a typed line. */
const scriptLengthMax = 64 * 1024
/** Maximum characters from variables in one command, beside the last value. */
const valuesMax = 128 * 1024
/** Maximum bytes that one command may write to a file. */
const redirectedBytesMax = 16 * 1024 * 1024

/** Maximum commands before other work runs: a millisecond or two. */
const commandsPerTurn = 100

/** Finds the program of a command among all sources of a container. */
export type FindProgram = (container: RunningContainer, command: readonly string[]) => Program | undefined

/** One command of a script: its condition, its words, and its output file. */
interface SimpleCommand {
  readonly after: ';' | '&&' | '||'
  readonly words: readonly string[]
  readonly output: { readonly path: string; readonly appends: boolean } | undefined
}

/** The built-in programs, and a shell for simple commands. `find` finds the programs of a shell. */
export function builtInPrograms(find: FindProgram): ProgramSource {
  const shell: Program = (container, command, streams) => runShell({ container, streams, find }, command)
  return (_container, [path = '']) => {
    const name = path.replace(/^\/(?:usr\/)?(?:local\/)?s?bin\//, '')
    if (name === 'sh' || name === 'bash' || name === 'ash') return shell
    if (name === '[') return commands['test']
    return Object.hasOwn(commands, name) ? commands[name] : undefined
  }
}

interface ShellRun {
  readonly container: RunningContainer
  readonly streams: ProgramStreams
  readonly find: FindProgram
}

/** `sh -c SCRIPT`, or a shell that reads its script from the input, line by line. */
async function runShell(run: ShellRun, [name = 'sh', ...words]: readonly string[]): Promise<number> {
  const flags = words.findIndex((word) => !/^-[a-z]+$/.test(word))
  const options = flags < 0 ? words : words.slice(0, flags)
  if (options.some((word) => word.includes('c'))) return (await runScript(run, words[flags] ?? '', 0)).code
  if (flags >= 0) {
    await run.streams.write('stderr', `${name}: can't open '${words[flags]}': No such file or directory\n`)
    return 2
  }
  return runLines(run)
}

async function runLines(run: ShellRun): Promise<number> {
  const { streams } = run
  const prompt = async () => {
    if (streams.isTerminal) await streams.write('stdout', '/ # ')
  }
  let code = 0
  let text = ''
  let lines = 0
  await prompt()
  // A command reads the input after the shell's.
  for await (const chunk of { [Symbol.asyncIterator]: () => sharedIterator(streams.stdin) }) {
    text = (text + Buffer.from(chunk).toString()).slice(-scriptLengthMax)
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      lines += 1
      if (lines % commandsPerTurn === 0) await run.container.turn()
      const result = await (streams.isTerminal ? runTyped : runScript)(run, line, code)
      if (result.isExit) return result.code
      code = result.code
      await prompt()
    }
  }
  return text === '' ? code : (await runScript(run, text, code)).code
}

/** Runs a line; Control-C ends its commands, not the shell. */
async function runTyped(run: ShellRun, line: string, before: number): Promise<ShellResult> {
  const { streams } = run
  const interrupted = new AbortController()
  streams.interrupts.handle = () => interrupted.abort()
  const signal = AbortSignal.any([streams.signal, interrupted.signal])
  const result = await runScript({ ...run, streams: { ...streams, signal } }, line, before)
  return interrupted.signal.aborted && !streams.signal.aborted ? { code: 130, isExit: false } : result
}

/** An iterator that another reader may continue. */
function sharedIterator(chunks: AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return { next: () => iterator.next() }
}

interface ShellResult {
  readonly code: number
  /** The shell ends. */
  readonly isExit: boolean
}

async function runScript(run: ShellRun, script: string, before: number): Promise<ShellResult> {
  const { container, streams } = run
  let code = before
  let hasRun = false
  const list = parseScript(script)
  if (typeof list === 'string') {
    await streams.write('stderr', `sh: syntax error: ${list}\n`)
    return { code: 2, isExit: true }
  }
  for (const [index, { after, words, output }] of list.entries()) {
    if (index % commandsPerTurn === commandsPerTurn - 1) await container.turn()
    if (hasRun && ((after === '&&' && code !== 0) || (after === '||' && code === 0))) continue
    hasRun = true
    const values = valuesIn(container.env)
    const [name = '', ...rest] = words.map((word) => expand(word, values, code))
    if (name === 'exit') return { code: rest[0] === undefined ? code : Number(rest[0]) & 0xff, isExit: true }
    const command = name === 'exec' ? rest : [name, ...rest]
    code = await runCommand(run, command, output)
    if (streams.signal.aborted) return { code: 137, isExit: true }
    if (name === 'exec') return { code, isExit: true }
  }
  return { code, isExit: false }
}

async function runCommand(
  { container, streams, find }: ShellRun,
  command: readonly string[],
  output: SimpleCommand['output'],
): Promise<number> {
  const [name = ''] = command
  if (name === '') return 0
  const program = name === 'cd' ? commands['true'] : find(container, command)
  if (program === undefined) {
    await streams.write('stderr', `sh: ${name}: not found\n`)
    return 127
  }
  if (output === undefined) return (await program(container, command, streams)) ?? 0
  const written: Uint8Array[] = []
  let bytes = 0
  const write: ProgramStreams['write'] = async (to, text) => {
    if (to === 'stderr') return streams.write(to, text)
    const piece = Buffer.from(text)
    bytes += piece.length
    if (bytes > redirectedBytesMax) throw noSpace(redirectedBytesMax, 'from one command')
    written.push(piece)
  }
  try {
    const code = (await program(container, command, { ...streams, write })) ?? 0
    const path = resolvePath(home, expand(output.path, valuesIn(container.env), 0))
    const files = await container.currentFiles()
    const before = output.appends ? files.get(path) : undefined
    if (path !== '/dev/null') {
      files.write(path, Buffer.concat([before?.kind === 'file' ? before.bytes : new Uint8Array(), ...written]), container.now())
    }
    return code
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    await streams.write('stderr', `sh: write error: ${error.message}\n`)
    return 1
  }
}

/** The words of each command of a script; undefined if the shell cannot parse the script. */
export function commandsOf(script: string): readonly (readonly string[])[] | undefined {
  const list = parseScript(script)
  return typeof list === 'string' ? undefined : list.map(({ words }) => words)
}

/** Literal text of a word is marked, so that variables in it are not expanded. */
const literal = '\u0000'

/** The commands of a script, or its first error. */
function parseScript(script: string): SimpleCommand[] | string {
  if (script.length > scriptLengthMax) return 'the script is too long'
  const list: SimpleCommand[] = []
  let after: SimpleCommand['after'] = ';'
  let words: string[] = []
  let output: SimpleCommand['output']
  const finish = (next: SimpleCommand['after']) => {
    if (words.length > 0) list.push({ after, words, output })
    after = next
    words = []
    output = undefined
  }
  let redirect: string | undefined
  let at = 0
  while (at < script.length) {
    token.lastIndex = at
    const match = token.exec(script)
    if (match === null) return `unexpected ${JSON.stringify(script.slice(at, at + 20))}; only simple commands are simulated`
    at = token.lastIndex
    const [, separator, direction, word] = match
    if (separator !== undefined) finish(separator === '&&' || separator === '||' ? separator : ';')
    if (direction !== undefined) redirect = direction
    if (word === undefined) continue
    if (redirect === undefined) words.push(unquote(word))
    else output = { path: unquote(word), appends: redirect === '>>' }
    redirect = undefined
  }
  finish(';')
  return redirect === undefined ? list : 'unexpected end of line'
}

/** Spaces and redirected errors; a separator; a redirection; a comment; a word, with no `$` but those of variables and `$?`. */
const token =
  /[ \t]+|2>(?:&1|[ \t]*\/dev\/null)|(&&|\|\||;|\n)|(>>?)[ \t]*|#[^\n]*|((?!\d+>)(?:'[^']*'|"(?:\\.|[^"\\`$]|\$(?:\{[A-Za-z_]\w*\}|(?![({\d@*#$!-])))*"|\\.|[^\s;&|<>()'"\\`$]|\$(?:\{[A-Za-z_]\w*\}|(?![({\d@*#$!-])))+)/gy

function unquote(word: string): string {
  return word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (_all, single?: string, double?: string, escaped?: string) => {
    if (double !== undefined) return double.replace(/\\(["\\$`])/g, (_match, one: string) => (one === '$' ? `${literal}$` : one))
    return (single ?? escaped ?? '').replaceAll('$', `${literal}$`)
  })
}

type ValueOf = (name: string) => string

/** The values of variables for one command. After `valuesMax` characters, further ones are empty. */
function valuesIn(env: Readonly<Record<string, string>>): ValueOf {
  let left = valuesMax
  return (name) => {
    const value = left > 0 ? (env[name] ?? '') : ''
    left -= value.length
    return value
  }
}

function expand(word: string, values: ValueOf, code: number): string {
  return word.replace(/\u0000\$|\$(?:\{(\w+)\}|(\w+)|\?)/g, (all, braced?: string, bare?: string) => {
    if (all === `${literal}$`) return '$'
    const name = braced ?? bare
    return name === undefined ? String(code) : values(name)
  })
}
