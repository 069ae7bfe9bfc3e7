import { commands } from './commands.ts'
import { FileError, noSpace, resolvePath } from './container-files.ts'
import type { Program, ProgramSource, ProgramStreams, RunningContainer } from './program.ts'
import { type Command, type List, parseScript, type Redirection, ScriptError, scriptLengthMax, type Word } from './shell-script.ts'
import { Way } from './way.ts'

/** Maximum characters from variables and outputs in one command, beside the last value. */
const valuesMax = 128 * 1024
const variablesMax = 1000
/** Maximum bytes that shells hold for files until the commands that write them end. */
const redirectedBytesMax = 16 * 1024 * 1024
/** Maximum shells at the same time. */
const shellsMax = 50
/** Maximum commands before other work runs: a millisecond or two. */
const commandsPerTurn = 100
/** Rounds of loops, and shells in shells, that take a second of the node's clock, so that those without a sleep do not hold it. */
const roundsPerSecond = 100

class ShellError extends Error {}

/** Finds the program of a command among all sources of a container. */
export type FindProgram = (container: RunningContainer, command: readonly string[]) => Program | undefined

/** The built-in programs, and a shell. `find` finds the programs of a shell. */
export function builtInPrograms(find: FindProgram): ProgramSource {
  const shell: Program = async (container, command, streams) => {
    const run = newRun(container, streams, find)
    return runShell(run, command).finally(() => (run.state.counts.shells -= 1))
  }
  return (_container, [path = '']) => {
    const name = path.replace(/^\/(?:usr\/)?(?:local\/)?s?bin\//, '')
    if (name === 'sh' || name === 'bash' || name === 'ash') return shell
    if (name === '[' || name === '[[') return commands['test']
    return Object.hasOwn(commands, name) ? commands[name] : undefined
  }
}

/** The variables and the progress of a shell. */
interface ShellState {
  readonly variables: Map<string, string>
  readonly exported: Set<string>
  directory: string
  code: number
  /** The reason why no further command runs. */
  jump: 'exit' | 'break' | 'continue' | undefined
  /** Characters that variables and outputs may still add to the current command. */
  valuesLeft: number
  readonly counts: NonNullable<RunningContainer['shellCounts']>
}

interface ShellRun {
  readonly container: RunningContainer
  readonly streams: ProgramStreams
  readonly find: FindProgram
  readonly state: ShellState
}

function newRun(container: RunningContainer, streams: ProgramStreams, find: FindProgram): ShellRun {
  const variables = new Map(Object.entries(container.env))
  const counts = container.shellCounts ?? { commands: 0, rounds: 0, shells: 0, heldBytes: 0 }
  const start = { code: 0, jump: undefined, valuesLeft: valuesMax, counts }
  const state = { variables, exported: new Set(variables.keys()), directory: container.directory, ...start }
  return { container: { ...container, shellCounts: counts }, streams, find, state }
}

/** A shell in a shell: it has the same variables, and its changes stay in it. */
function innerRun(run: ShellRun, streams: Partial<ProgramStreams>): ShellRun {
  const { variables, exported } = run.state
  const state = { ...run.state, variables: new Map(variables), exported: new Set(exported) }
  return { ...run, streams: { ...run.streams, ...streams }, state }
}

/** `sh -c SCRIPT`, `sh FILE`, or a shell that reads its script from the input, line by line. */
async function runShell(run: ShellRun, [name = 'sh', ...words]: readonly string[]): Promise<number> {
  const { counts } = run.state
  counts.shells += 1
  if (counts.shells > shellsMax) throw new ShellError(`more than ${shellsMax} shells at once`)
  if (counts.shells > 1) await count(run, 'rounds')
  const flags = words.findIndex((word) => !/^-[a-z]+$/.test(word))
  const options = flags < 0 ? words : words.slice(0, flags)
  if (options.some((word) => word.includes('c'))) return runScript(run, words[flags] ?? '')
  const [file] = flags < 0 ? [] : words.slice(flags)
  if (file === undefined) return runLines(run)
  const entry = (await run.container.currentFiles()).get(resolvePath(run.state.directory, file))
  if (entry?.kind === 'file') return runScript(run, Buffer.from(entry.bytes).toString())
  await run.streams.write('stderr', `${name}: can't open '${file}': No such file or directory\n`)
  return 2
}

async function runLines(run: ShellRun): Promise<number> {
  const { streams, state } = run
  const prompt = async () => {
    if (streams.isTerminal) await streams.write('stdout', '/ # ')
  }
  let text = ''
  await prompt()
  const input = streams.stdin[Symbol.asyncIterator]()
  // A command reads the input after the shell's.
  for await (const chunk of { [Symbol.asyncIterator]: () => ({ next: () => input.next() }) }) {
    text = (text + Buffer.from(chunk).toString()).slice(-scriptLengthMax)
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      await count(run, 'commands')
      await (streams.isTerminal ? runTyped : runScript)(run, line)
      if (state.jump === 'exit') return state.code
      await prompt()
    }
  }
  return text === '' ? state.code : runScript(run, text)
}

/** Runs a line; Control-C ends its commands, not the shell. */
async function runTyped(run: ShellRun, line: string): Promise<void> {
  const { streams, state } = run
  const interrupted = new AbortController()
  streams.interrupts.handle = () => interrupted.abort()
  const signal = AbortSignal.any([streams.signal, interrupted.signal])
  await runScript({ ...run, streams: { ...streams, signal } }, line)
  if (interrupted.signal.aborted && !streams.signal.aborted) Object.assign(state, { code: 130, jump: undefined })
}

async function runScript(run: ShellRun, script: string): Promise<number> {
  try {
    return await runList(run, parseScript(script).list)
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    await run.streams.write('stderr', `sh: syntax error: ${error.message}\n`)
    Object.assign(run.state, { code: 2, jump: 'exit' })
    return 2
  }
}

async function count({ container, streams, state: { counts } }: ShellRun, what: 'commands' | 'rounds'): Promise<void> {
  counts[what] += 1
  if (what === 'commands' && counts.commands % commandsPerTurn === 0) await container.turn()
  if (what === 'rounds' && counts.rounds % roundsPerSecond === 0) await container.sleep(1000, streams.signal)
}

async function runList(run: ShellRun, list: List): Promise<number> {
  const { state, streams } = run
  for (const { after, command } of list) {
    if ((after === '&&' && state.code !== 0) || (after === '||' && state.code === 0)) continue
    await count(run, 'commands')
    state.code = await runCommand(run, command)
    if (streams.signal.aborted) Object.assign(state, { code: 137, jump: 'exit' })
    if (state.jump !== undefined) break
  }
  return state.code
}

async function runCommand(run: ShellRun, command: Command): Promise<number> {
  if (command.kind === 'pipeline') {
    const code = await runPipeline(run, command.commands)
    return command.isNegated ? Number(code === 0) : code
  }
  const files: Written[] = []
  try {
    const redirected = await redirect(run, command.redirections, files)
    const code = redirected === undefined ? 1 : await runBody(redirected, command)
    const current = files.length > 0 ? await run.container.currentFiles() : undefined
    for (const { path, pieces } of files) current?.write(path, Buffer.concat(pieces), run.container.now())
    return code
  } catch (error) {
    if (!(error instanceof FileError || error instanceof ShellError)) throw error
    if (error instanceof ShellError) run.state.jump = 'exit'
    await run.streams.write('stderr', `sh: ${error instanceof FileError ? 'write error: ' : ''}${error.message}\n`)
    return 1
  } finally {
    for (const { bytes } of files) run.state.counts.heldBytes -= bytes
  }
}

/** The output of a command to a file, which is written at the end of the command, and its part of the held bytes. */
interface Written {
  readonly path: string
  readonly pieces: Uint8Array[]
  bytes: number
}

/** The run with redirected streams; adds the files that they write. Undefined, after a message, if its input does not exist. */
async function redirect(run: ShellRun, redirections: readonly Redirection[], written: Written[]): Promise<ShellRun | undefined> {
  if (redirections.length === 0) return run
  const { streams, container, state } = run
  const outer = (to: 'stdout' | 'stderr') => (text: string | Uint8Array) => streams.write(to, text)
  const sinks = { stdout: outer('stdout'), stderr: outer('stderr') }
  let { stdin } = streams
  for (const { from, appends, to } of redirections) {
    if (typeof to === 'string') {
      if (from !== 'stdin') sinks[from] = sinks[to]
      continue
    }
    const path = resolvePath(state.directory, await textOf(run, to))
    const files = await container.currentFiles()
    const entry = files.get(path)
    if (from === 'stdin') {
      if (entry?.kind !== 'file' && path !== '/dev/null') {
        await sinks.stderr(`sh: can't open ${path}: no such file\n`)
        return undefined
      }
      stdin = chunksOf(entry?.kind === 'file' ? entry.bytes : new Uint8Array())
    } else if (path === '/dev/null') sinks[from] = async () => {}
    else {
      const file: Written = { path, pieces: appends && entry?.kind === 'file' ? [entry.bytes] : [], bytes: 0 }
      sinks[from] = async (text) => {
        const piece = Buffer.from(text)
        file.bytes += piece.length
        state.counts.heldBytes += piece.length
        if (state.counts.heldBytes > redirectedBytesMax) throw noSpace(redirectedBytesMax, 'from one command')
        if (piece.length > 0) file.pieces.push(piece)
      }
      written.push(file)
    }
  }
  return { ...run, streams: { ...streams, stdin, write: (to, text) => sinks[to](text) } }
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Runs commands at once, each with the output of the one before it as its input. The last one decides. */
async function runPipeline(run: ShellRun, [first, ...rest]: readonly Command[]): Promise<number> {
  if (first === undefined) return 0
  if (rest.length === 0) return runCommand(innerRun(run, {}), first)
  const pipe = new Way<Uint8Array>(() => {})
  const ending = new AbortController()
  const signal = AbortSignal.any([run.streams.signal, ending.signal])
  const write: ProgramStreams['write'] = async (to, text) => {
    if (to === 'stderr') return run.streams.write(to, text)
    const bytes = Buffer.from(text)
    await pipe.push(bytes, bytes.length)
  }
  const writer = runCommand(innerRun(run, { signal, write }), first).finally(() => pipe.parts.end())
  writer.catch(() => {})
  try {
    return await runPipeline({ ...run, streams: { ...run.streams, stdin: pipe.parts } }, rest)
  } finally {
    ending.abort()
    pipe.parts.close()
    await writer
  }
}

async function runBody(run: ShellRun, command: Exclude<Command, { kind: 'pipeline' }>): Promise<number> {
  switch (command.kind) {
    case 'simple': {
      const { words, assignments } = command
      run.state.valuesLeft = valuesMax
      const [name, ...rest] = await fieldsOf(run, words)
      const values = new Map<string, string>()
      for (const { name, value } of assignments) values.set(name, await textOf(run, value))
      if (name !== undefined) return runSimple(run, [name, ...rest], values)
      for (const [key, value] of values) setVariable(run, key, value)
      return 0
    }
    case 'group':
      return runList(command.isApart ? innerRun(run, {}) : run, command.body)
    case 'if': {
      for (const { test, body } of command.branches) {
        const code = await runList(run, test)
        if (run.state.jump !== undefined) return code
        if (code === 0) return runList(run, body)
      }
      return command.otherwise.length > 0 ? runList(run, command.otherwise) : 0
    }
    case 'for': {
      run.state.valuesLeft = valuesMax
      const values = (await fieldsOf(run, command.words)).values()
      return runRounds(run, command.body, async () => {
        const { value, done } = values.next()
        if (done !== true) setVariable(run, command.name, value)
        return done !== true
      })
    }
    case 'while':
    case 'until':
      return runRounds(run, command.body, async () => ((await runList(run, command.test)) === 0) === (command.kind === 'while'))
  }
}

async function runRounds(run: ShellRun, body: List, begins: () => Promise<boolean>): Promise<number> {
  const { state } = run
  let code = 0
  while ((await begins()) && state.jump === undefined) {
    await count(run, 'rounds')
    code = await runList(run, body)
    const { jump } = state
    if (jump !== 'exit') state.jump = undefined
    if (jump === 'exit' || jump === 'break') break
  }
  return code
}

async function runSimple(
  run: ShellRun,
  [name, ...words]: readonly [string, ...string[]],
  values: ReadonlyMap<string, string>,
): Promise<number> {
  const { state, streams, container } = run
  switch (name) {
    case 'exit':
      state.jump = 'exit'
      return words[0] === undefined ? state.code : Number(words[0]) & 0xff
    case 'break':
    case 'continue':
      state.jump = name
      return 0
    case 'cd':
      return changeDirectory(run, words[0] ?? '/root')
    case 'export':
      for (const [key = '', value] of words.map((word) => word.split(/=(.*)/s))) {
        if (value !== undefined) setVariable(run, key, value)
        if (state.variables.has(key) || state.exported.size < variablesMax) state.exported.add(key)
      }
      return 0
    default: {
      const isLast = name === 'exec'
      const command = isLast ? words : [name, ...words]
      const env = Object.fromEntries([...state.variables].filter(([key]) => state.exported.has(key)).concat([...values]))
      const inner = { ...container, env, directory: state.directory }
      const program = command.length === 0 ? commands['true'] : run.find(inner, command)
      if (program === undefined) await streams.write('stderr', `sh: ${command[0]}: not found\n`)
      if (isLast) state.jump = 'exit'
      return program === undefined ? 127 : ((await program(inner, command, streams)) ?? 0)
    }
  }
}

function setVariable({ state: { variables } }: ShellRun, name: string, value: string): void {
  if (variables.size >= variablesMax && !variables.has(name)) throw new FileError('too many variables')
  variables.set(name, value)
}

async function changeDirectory({ state, container, streams }: ShellRun, to: string): Promise<number> {
  const path = resolvePath(state.directory, to)
  if ((await container.currentFiles()).get(path)?.kind === 'directory') {
    state.directory = path
    return 0
  }
  await streams.write('stderr', `sh: cd: can't cd to ${to}: No such file or directory\n`)
  return 2
}

const calculations = {
  '+': (left: number, right: number) => left + right,
  '-': (left: number, right: number) => left - right,
  '*': (left: number, right: number) => left * right,
  '/': (left: number, right: number) => Math.trunc(left / right) || 0,
  '%': (left: number, right: number) => left % right || 0,
} as const

/** The text of a word that is not split. */
async function textOf(run: ShellRun, word: Word): Promise<string> {
  const texts: string[] = []
  for (const part of word) texts.push(await expand(run, part))
  return texts.join('')
}

/** The fields of words: expansions without quotes are split at white space. */
async function fieldsOf(run: ShellRun, words: readonly Word[]): Promise<string[]> {
  const fields: (string | undefined)[] = []
  for (const word of words) {
    fields.push(undefined)
    for (const part of word) {
      const text = await expand(run, part)
      const pieces = part.isQuoted || part.kind === 'text' ? [text] : text.split(/[ \t\n]+/)
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) fields.push(undefined)
        if (piece !== '' || part.isQuoted) fields.push((fields.pop() ?? '') + piece)
      }
    }
  }
  return fields.filter((field) => field !== undefined)
}

async function expand(run: ShellRun, part: Word[number]): Promise<string> {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'variable': {
      const value = variableValue(run.state, part.name)
      return value === '' && part.otherwise ? textOf(run, part.otherwise) : value
    }
    case 'sum': {
      const [left, right] = part.operands.map((one) => (/^\d/.test(one) ? Number(one) : Number(variableValue(run.state, one)) || 0))
      if (right === 0 && /[/%]/.test(part.operator)) throw new ShellError('division by 0')
      return String(calculations[part.operator](left ?? 0, right ?? 0))
    }
    case 'output':
      return outputOf(run, part.list)
  }
}

/** The value of a variable. After `valuesMax` characters in one command, further ones are empty. */
function variableValue(state: ShellState, name: string): string {
  const value = name === '?' ? String(state.code) : state.valuesLeft > 0 ? (state.variables.get(name) ?? '') : ''
  state.valuesLeft -= value.length
  return value
}

async function outputOf(run: ShellRun, list: List): Promise<string> {
  const pieces: Uint8Array[] = []
  const { state } = run
  const write: ProgramStreams['write'] = async (to, text) => {
    if (to === 'stderr') return run.streams.write(to, text)
    if (text.length === 0 || state.valuesLeft <= 0) return
    const piece = Buffer.from(text.slice(0, state.valuesLeft))
    state.valuesLeft -= piece.length
    pieces.push(piece)
  }
  state.code = await runList(innerRun(run, { write }), list)
  return Buffer.concat(pieces)
    .toString()
    .replace(/(?<!\n)\n+$/, '')
}
