import { sleepMs } from '@orch/core/pod-life'
import { TarError } from '@orch/platform'
import { type ContainerFiles, type FileEntry, FileError, parentOf, resolvePath } from './container-files.ts'
import type { Program, ProgramStreams, RunningContainer } from './program.ts'
import { type ArchiveEntry, printTar, readArchive } from './tar.ts'

/** Maximum bytes of one file from an archive, or from the input. */
const fileBytesMax = 32 * 1024 * 1024

/** The programs of a simulated container, by name. */
export const commands: Readonly<Record<string, Program>> = {
  true: () => 0,
  ':': () => 0,
  false: () => 1,
  echo: async (_container, [, ...words], { write }) => {
    const isWithoutEnd = words[0] === '-n'
    await write('stdout', `${(isWithoutEnd ? words.slice(1) : words).join(' ')}${isWithoutEnd ? '' : '\n'}`)
    return 0
  },
  cat,
  date: simulated('-u and +FORMAT', /^(?:-u\0?)?(?:\+[^\0]*)?$/, (container, words) =>
    printDate(new Date(container.now()), words.find((word) => word.startsWith('+'))?.slice(1)),
  ),
  env: simulated('calls without arguments', /^$/, ({ env }) => linesOf(env).join('')),
  printenv: printEnvironment,
  hostname: simulated('-f and -s', /^(?:-[fs])?$/, ({ host: { hostname, shortName, domain } }, [, flag]) =>
    flag === '-s' ? shortName : flag === '-f' && domain !== '' ? `${shortName}.${domain}` : hostname,
  ),
  id: simulated('-u, -g and -G', /^(?:-[ugG])?$/, ({ user: { uid, gid, groups } }, [, flag]) => {
    const named = (id: number) => (id === 0 ? '0(root)' : `${id}`)
    const all = `uid=${named(uid)} gid=${named(gid)} groups=${groups.map(named).join(',')}`
    return { '-u': `${uid}`, '-g': `${gid}`, '-G': groups.join(' ') }[flag ?? ''] ?? all
  }),
  ls: list,
  mkdir: eachPath('mkdir', (files, path, nowMs) => files.makeDirectory(path, nowMs)),
  pwd: ({ directory }, _command, { write }) => write('stdout', `${directory}\n`).then(() => 0),
  rm: eachPath('rm', (files, path) => files.remove(path)),
  seq: simulated('one to three whole numbers', /^-?\d+(?:\0-?\d+){0,2}$/, (_container, [, ...words]) => {
    const [last = 0, first = 1, step = 1] = words.length === 3 ? [words[2], words[0], words[1]].map(Number) : words.map(Number).reverse()
    const count = Math.min(Math.floor((last - first) / (step || Number.NaN)) + 1, 10_000) || 0
    return Array.from({ length: Math.max(0, count) }, (_, index) => `${first + index * step}\n`).join('')
  }),
  sleep,
  tail: async (container, [, ...words], { signal, write }) => {
    if (words.join(' ') === '-f /dev/null') await container.sleep(Number.POSITIVE_INFINITY, signal, { background: true })
    else await write('stderr', 'tail: only -f /dev/null is simulated\n')
    return 1
  },
  tar,
  test,
  touch: eachPath('touch', (files, path, nowMs) => files.get(path) ?? files.write(path, new Uint8Array(), nowMs)),
  whoami: async ({ user: { uid } }, _command, { write }) => {
    await (uid === 0 ? write('stdout', 'root\n') : write('stderr', `whoami: unknown uid ${uid}\n`))
    return Math.min(uid, 1)
  },
}

/** A program that prints a line. It refuses arguments beside the known ones. */
function simulated(what: string, known: RegExp, lineOf: (at: RunningContainer, command: readonly string[]) => string): Program {
  return async (container, command, { write }) => {
    const isKnown = known.test(command.slice(1).join('\0'))
    const text = isKnown ? lineOf(container, command) : `${command[0]}: only ${what} are simulated`
    await write(isKnown ? 'stdout' : 'stderr', text.replace(/[^\n]$/, '$&\n'))
    return Number(!isKnown)
  }
}

function eachPath(name: string, work: (files: ContainerFiles, path: string, nowMs: number) => void): Program {
  return async (container, [, ...words], { write }) => {
    const paths = words.filter((word) => !word.startsWith('-'))
    try {
      const files = await container.currentFiles()
      for (const path of paths) work(files, resolvePath(container.directory, path), container.now())
      return 0
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await write('stderr', `${name}: ${error.message}\n`)
      return 1
    }
  }
}

async function cat(container: RunningContainer, [, ...paths]: readonly string[], { stdin, write }: ProgramStreams): Promise<number> {
  const files = paths.length === 0 ? container.files : await container.currentFiles()
  let code = 0
  for (const path of paths.length === 0 ? ['-'] : paths) {
    if (path === '-') {
      for await (const chunk of stdin) await write('stdout', chunk)
      continue
    }
    const entry = files.get(resolvePath(container.directory, path))
    if (entry?.kind === 'file') {
      await write('stdout', entry.bytes)
      continue
    }
    const problem = entry === undefined ? `can't open '${path}': No such file or directory` : 'read error: Is a directory'
    await write('stderr', `cat: ${problem}\n`)
    code = 1
  }
  return code
}

const linesOf = (env: RunningContainer['env']) => Object.entries(env).map(([key, value]) => `${key}=${value}\n`)

async function printEnvironment({ env }: RunningContainer, [, ...names]: readonly string[], { write }: ProgramStreams): Promise<number> {
  const known = names.filter((name) => Object.hasOwn(env, name))
  await write('stdout', (names.length === 0 ? linesOf(env) : known.map((name) => `${env[name]}\n`)).join(''))
  return Number(known.length < names.length)
}

async function list(container: RunningContainer, [, ...words]: readonly string[], { write }: ProgramStreams): Promise<number> {
  const files = await container.currentFiles()
  const paths = words.filter((word) => !word.startsWith('-'))
  const isKnown = words.every((word) => /^(?:[^-]|-[1Aal]+$)/.test(word))
  if (!isKnown) await write('stderr', 'ls: only the flags -1, -A, -a and -l are simulated\n')
  let code = Number(!isKnown)
  for (const path of !isKnown ? [] : paths.length === 0 ? [container.directory] : paths) {
    const resolved = resolvePath(container.directory, path)
    const entry = files.get(resolved)
    if (entry === undefined) {
      await write('stderr', `ls: ${path}: No such file or directory\n`)
      code = 1
    } else {
      const names = entry.kind === 'file' ? [path] : [...entry.entries.keys()].sort()
      await write('stdout', names.map((name) => `${name}\n`).join(''))
    }
  }
  return code
}

async function sleep(container: RunningContainer, [, ...words]: readonly string[], { signal, write }: ProgramStreams): Promise<number> {
  let totalMs = 0
  for (const word of words) {
    const ms = sleepMs(word)
    if (ms === undefined) {
      await write('stderr', `sleep: invalid number '${word}'\n`)
      return 1
    }
    totalMs += ms
  }
  await container.sleep(totalMs, signal)
  return 0
}

/** Bytes of a file; 1 for a directory. */
function sizeOf(entry: FileEntry | undefined): number {
  return entry?.kind === 'file' ? entry.bytes.length : entry === undefined ? 0 : 1
}

const comparisons = new Map<string, (left: string, right: string) => boolean>(
  Object.entries({
    '=': (left, right) => left === right,
    '==': (left, right) => left === right,
    '!=': (left, right) => left !== right,
    '-eq': (left, right) => Number(left) === Number(right),
    '-ne': (left, right) => Number(left) !== Number(right),
    '-lt': (left, right) => Number(left) < Number(right),
    '-le': (left, right) => Number(left) <= Number(right),
    '-gt': (left, right) => Number(left) > Number(right),
    '-ge': (left, right) => Number(left) >= Number(right),
  }),
)

/** Tests of files, strings and numbers, as used by kubectl and probes. */
async function test(container: RunningContainer, [name, ...words]: readonly string[], { write }: ProgramStreams): Promise<number> {
  const all = name?.startsWith('[') ? words.slice(0, -1) : words
  let negations = 0
  while (negations < all.length - 1 && all[negations] === '!') negations += 1
  const given = all.slice(negations)
  const [first = '', second, third] = given
  const files = given.length === 2 ? await container.currentFiles() : container.files
  const entry = () => files.get(resolvePath(container.directory, second ?? ''))
  const isTrue =
    given.length === 3
      ? comparisons.get(second ?? '')?.(first, third ?? '')
      : given.length === 2
        ? new Map([
            ['-d', entry()?.kind === 'directory'],
            ['-e', entry() !== undefined],
            ['-f', entry()?.kind === 'file'],
            ['-s', sizeOf(entry()) > 0],
            ['-n', second !== ''],
            ['-r', entry() !== undefined],
            ['-z', second === ''],
          ]).get(first)
        : given.length === 1 && first !== ''
  if (isTrue !== undefined) return Number(isTrue === (negations % 2 === 1))
  await write('stderr', `${name}: ${first}: unknown operand\n`)
  return 2
}

/** `tar cf - PATH…` and `tar xf - [-C DIRECTORY]`, as used by kubectl cp. */
async function tar(container: RunningContainer, [, ...words]: readonly string[], streams: ProgramStreams): Promise<number> {
  const asked = parseTar(words, container.directory)
  if (typeof asked === 'string') {
    await streams.write('stderr', `tar: ${asked}\n`)
    return 2
  }
  return asked.creates ? createArchive(container, asked, streams) : extractArchive(container, asked, streams)
}

interface TarCall {
  readonly creates: boolean
  readonly directory: string
  readonly paths: readonly string[]
}

function parseTar(words: readonly string[], from: string): TarCall | string {
  const paths: string[] = []
  let letters = ''
  let file = ''
  let directory = from
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (word.startsWith('--')) continue
    const isOption = word.length > 1 && (word.startsWith('-') || index === 0)
    if (!isOption) paths.push(word)
    for (const letter of isOption ? word.replace('-', '') : '') {
      letters += letter
      if (letter === 'f') file = words[++index] ?? ''
      if (letter === 'C') directory = resolvePath(from, words[++index] ?? '')
    }
  }
  const modes = [...letters].filter((letter) => 'cx'.includes(letter))
  if (modes.length !== 1) return 'must specify one of c, x'
  if (file !== '-') return 'only - is simulated as an archive'
  return { creates: modes[0] === 'c', directory, paths }
}

async function createArchive(container: RunningContainer, { directory, paths }: TarCall, { write }: ProgramStreams): Promise<number> {
  const files = await container.currentFiles()
  const entries: ArchiveEntry[] = []
  let code = 0
  for (const path of paths) {
    const root = resolvePath(directory, path)
    const found = files.under(root)
    if (found.length === 0) {
      await write('stderr', `tar: ${path}: No such file or directory\n`)
      code = 1
    }
    // Names in archives have no leading slash.
    const shown = (path === '.' ? '.' : path.replace(/^\/+/, '').replace(/\/+$/, '')) || '.'
    for (const [below, entry] of found)
      entries.push({ path: shown + (root === '/' && below !== '/' ? below : below.slice(root === '/' ? 1 : root.length)), entry })
  }
  if (entries.length === 0) {
    if (paths.length === 0) await write('stderr', 'tar: empty archive\n')
    return 1
  }
  for (const piece of printTar(entries)) await write('stdout', piece)
  return code
}

async function extractArchive(container: RunningContainer, { directory }: TarCall, { stdin, write }: ProgramStreams): Promise<number> {
  const { now } = container
  try {
    const files = await container.currentFiles()
    for await (const { path, entry } of readArchive(stdin, fileBytesMax)) {
      const target = resolvePath(directory, path)
      if (files.get(parentOf(target))?.kind === 'file') throw new TarError(`can't create '${path}': Not a directory`)
      if (entry.kind === 'directory') files.makeDirectory(target, now(), entry.mode)
      else files.write(target, Buffer.from(entry.bytes), entry.modifiedMs, entry.mode)
    }
    return 0
  } catch (error) {
    if (!(error instanceof TarError || error instanceof FileError)) throw error
    await write('stderr', `tar: ${error.message}\n`)
    return 1
  }
}

/** Prints a date as `date` does, by default as `Sun Nov 29 06:50:00 UTC 2026`. Unknown letters of a format stay. */
function printDate(date: Date, format = '%a %b %e %T %Z %Y'): string {
  const iso = date.toISOString()
  const [a, d = '', b] = date.toUTCString().split(/,? /)
  const [Y, m, , H, M, S] = iso.split(/\D/)
  const [F, T, s] = [iso.slice(0, 10), iso.slice(11, 19), `${Math.floor(date.getTime() / 1000)}`]
  const parts = new Map(Object.entries({ a, b, d, e: d.replace(/^0/, ' '), F, T, Z: 'UTC', Y, m, H, M, S, s, '%': '%' }))
  return format.replace(/%(.)/gs, (all, letter: string) => parts.get(letter) ?? all)
}
