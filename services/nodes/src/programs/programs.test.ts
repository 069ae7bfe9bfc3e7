import type { Pod } from '@orch/core/workloads'
import { describe, expect, test, vi } from 'vitest'
import { containerFiles, FileTree, type Mount, resolvePath } from './container-files.ts'
import type { Program, ProgramStreams, RunningContainer } from './program.ts'
import { builtInPrograms } from './shell.ts'
import { type ArchiveEntry, printTar, readArchive } from './tar.ts'
import { typedInput } from './terminal.ts'

const nowMs = Date.parse('2026-11-29T06:05:04Z')
const builtIn = builtInPrograms((container, command) => builtIn(container, command))

function aContainer(files: Readonly<Record<string, string>> = {}): RunningContainer {
  const held = containerFiles({ '/etc/motd': 'welcome\n', ...files }, nowMs)
  return {
    pod: { metadata: {}, spec: {}, status: {} } as Pod,
    name: 'main',
    host: { hostname: 'web-1', shortName: 'web-1', domain: 'web.team.svc.cluster.local' },
    user: { uid: 0, gid: 0, groups: [0] },
    directory: '/',
    env: { COLOR: 'light blue', EMPTY: '' },
    files: held,
    currentFiles: async () => held,
    now: () => nowMs,
    sleep: async () => {},
    turn: async () => {},
  }
}

async function* chunksOf(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

interface Result {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command whose program is built in. */
async function run(
  command: readonly string[],
  { container = aContainer(), stdin = [] as readonly (string | Uint8Array)[] } = {},
): Promise<Result> {
  const written = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  const streams: ProgramStreams = {
    stdin: chunksOf(...stdin),
    isTerminal: false,
    size: undefined,
    signal: new AbortController().signal,
    interrupts: { handle: undefined },
    async write(to, text) {
      written[to].push(Buffer.from(text))
    },
  }
  const program: Program | undefined = builtIn(container, command)
  if (program === undefined) return { code: undefined, stdout: '', stderr: '' }
  const code = await program(container, command, streams)
  return { code, stdout: Buffer.concat(written.stdout).toString('latin1'), stderr: Buffer.concat(written.stderr).toString('latin1') }
}

const sh = (script: string, container = aContainer()) => run(['sh', '-c', script], { container })

describe('NODE-IO-22: programs of simulated containers', () => {
  test.each([
    [['true'], 0, '', ''],
    [['/bin/false'], 1, '', ''],
    [['echo', '-n', 'a', 'b'], 0, 'a b', ''],
    [['hostname'], 0, 'web-1\n', ''],
    [['hostname', '-f'], 0, 'web-1.web.team.svc.cluster.local\n', ''],
    [['id'], 0, 'uid=0(root) gid=0(root) groups=0(root)\n', ''],
    [['seq', '3'], 0, '1\n2\n3\n', ''],
    [['seq', '1', '4', '9'], 0, '1\n5\n9\n', ''],
    [['seq', '2', '-1', '1'], 0, '2\n1\n', ''],
    [['seq', '1', '0', '2'], 0, '', ''],
    [['seq', '-w', '3'], 1, '', 'seq: only one to three whole numbers are simulated\n'],
    [['hostname', '-s'], 0, 'web-1\n', ''],
    [['hostname', '-i'], 1, '', 'hostname: only -f and -s are simulated\n'],
    [['id', '-u'], 0, '0\n', ''],
    [['id', '-un'], 1, '', 'id: only -u, -g and -G are simulated\n'],
    [['test', '10', '-gt', '9'], 0, '', ''],
    [['[', '!', '-s', '/etc/motd', ']'], 1, '', ''],
    [['[[', '-r', '/etc/motd', ']]'], 0, '', ''],
    [['date'], 0, 'Sun Nov 29 06:05:04 UTC 2026\n', ''],
    [['date', '-u', '+%FT%TZ %s %Y%m%d-%H%M%S %%s %e %q'], 0, '2026-11-29T06:05:04Z 1795932304 20261129-060504 %s 29 %q\n', ''],
    [['date', 'tomorrow'], 1, '', 'date: only -u and +FORMAT are simulated\n'],
    [['date', '+%F', '+%T'], 1, '', 'date: only -u and +FORMAT are simulated\n'],
    [['env'], 0, 'COLOR=light blue\nEMPTY=\n', ''],
    [['printenv', 'COLOR'], 0, 'light blue\n', ''],
    [['printenv', 'NONE', 'COLOR'], 1, 'light blue\n', ''],
    [['env', 'COLOR=red', 'true'], 1, '', 'env: only calls without arguments are simulated\n'],
    [['cat', '/etc/motd', 'etc/../etc/motd'], 0, 'welcome\nwelcome\n', ''],
    [['cat', '/none', '/etc'], 1, '', "cat: can't open '/none': No such file or directory\ncat: read error: Is a directory\n"],
    [['ls', '/etc'], 0, 'motd\n', ''],
    [['ls', '-la', '/etc'], 0, 'motd\n', ''],
    [['ls', '-R', '/etc'], 1, '', 'ls: only the flags -1, -A, -a and -l are simulated\n'],
    [['ls', '/none'], 1, '', 'ls: /none: No such file or directory\n'],
    [['test', '-d', '/etc'], 0, '', ''],
    [['[', '-f', '/etc', ']'], 1, '', ''],
    [['test', '-e', '/none'], 1, '', ''],
    [['test', 'a', '=', 'a'], 0, '', ''],
    [['test', '-q', 'a'], 2, '', 'test: -q: unknown operand\n'],
    [['sleep', '0.5', '1m'], 0, '', ''],
    [['sleep', '365d', '9999999999', 'INF'], 0, '', ''],
    [['sleep', 'long'], 1, '', "sleep: invalid number 'long'\n"],
    [['tar', 'cf', '/tmp/x.tar', '/etc'], 2, '', 'tar: only - is simulated as an archive\n'],
    [['tar', 'f', '-'], 2, '', 'tar: must specify one of c, x\n'],
    [['curl'], undefined, '', ''],
    [['constructor'], undefined, '', ''],
  ] as const)('print and end as expected: %j', async (command, code, stdout, stderr) => {
    expect(await run(command)).toEqual({ code, stdout, stderr })
  })

  test.each([
    ['echo $COLOR "$COLOR" \'$COLOR\' \\$COLOR $NONE.', 0, 'light blue light blue $COLOR $COLOR .\n', ''],
    ['false; echo $?; true && echo yes || echo no', 0, '1\nyes\n', ''],
    ['false && echo no || echo other', 0, 'other\n', ''],
    ['echo one > /tmp/a; echo two >> /tmp/a; cat /tmp/a', 0, 'one\ntwo\n', ''],
    ['cat /none 2>/dev/null; echo done # a comment', 0, 'done\n', ''],
    [
      'cat /none > /tmp/a 2>&1; nosuch 2>> /tmp/a; cat < /tmp/a',
      0,
      "cat: can't open '/none': No such file or directory\nsh: nosuch: not found\n",
      '',
    ],
    ['exec false; echo never', 1, '', ''],
    ['exit 300', 44, '', ''],
    ['nosuch', 127, '', 'sh: nosuch: not found\n'],
    ["echo 'open", 2, '', 'sh: syntax error: unexpected "\'open"; only common commands are simulated\n'],
    ['echo "`date`"', 2, '', 'sh: syntax error: unexpected "`date`\\""; only common commands are simulated\n'],
    ['sleep 1 & echo a', 2, '', 'sh: syntax error: unexpected "& echo a"; only common commands are simulated\n'],
    ['case a in a) echo a;; esac', 2, '', 'sh: syntax error: unexpected ") echo a;; esac"; only common commands are simulated\n'],
    ['if true; then', 2, '', 'sh: syntax error: unexpected end of line\n'],
    ['echo >', 2, '', 'sh: syntax error: unexpected end of line\n'],
    ['('.repeat(60), 2, '', 'sh: syntax error: more than 50 commands in each other\n'],
    [`echo $\{NONE:-a $COLOR} $\{COLOR:-red}`, 0, 'a light blue light blue\n', ''],
    ['echo a 1>/tmp/b; echo c >&2; cat /tmp/b', 0, 'a\n', 'c\n'],
    ['for i in 9 $(seq 2) "a b"; do echo -n "[$i]"; done', 0, '[9][1][2][a b]', ''],
    [
      'i=0; while [ $i -lt 5 ]; do i=$((i+1)); if [ $i -eq 2 ]; then continue; elif [ $i = 4 ]; then break; else echo $i; fi; done',
      0,
      '1\n3\n',
      '',
    ],
    ['until test -f /tmp/a; do echo one > /tmp/a; done; ! cat /tmp/none 2>/dev/null && echo "$(cat /tmp/a) $?"', 0, 'one 0\n', ''],
    ['A=1; (A=2; cd /etc; pwd); { A=$A$A; }; echo $A; pwd', 0, '/etc\n11\n/\n', ''],
    ['A=1; env | cat > /tmp/env; export B=2 A; C=3 printenv C; printenv A; cat /tmp/env', 0, '3\n1\nCOLOR=light blue\nEMPTY=\n', ''],
    ['while true; do echo one; done | sh -c "exit 3"', 3, '', ''],
    [
      'cd /tmp; echo "if true; then echo \\$COLOR; fi" > s; sh s; sh -x none',
      2,
      'light blue\n',
      "sh: can't open 'none': No such file or directory\n",
    ],
    ['cd /none', 2, '', "sh: cd: can't cd to /none: No such file or directory\n"],
    ['echo $(echo a > /tmp/x) [$(cat /tmp/x)]; printenv toString; test a toString b', 2, '[a]\n', 'test: a: unknown operand\n'],
    ['(exit 4); echo $?; exit 5 | true; if false; then echo no; fi', 0, '4\n', ''],
    ['A=0; echo $((7/2)) $((7%4)); (echo $((1/A)); echo no) || echo $((1%0)); echo never', 1, '3 3\n', 'sh: division by 0\n'.repeat(2)],
    ['', 0, '', ''],
  ])('print and end as expected in a shell: %j', async (script, code, stdout, stderr) => {
    expect(await sh(script)).toEqual({ code, stdout, stderr })
  })

  test('take at most 128 KiB from outputs for one command, and 1000 variables', async () => {
    const container = aContainer({ '/tmp/full': `${'x'.repeat(60_000)}${'\n'.repeat(60_000)}x` })
    const words = await run(['sh', '-c', `echo "${'$(cat /tmp/full)'.repeat(20)}"`], { container })
    expect(words.stdout.length).toBe(128 * 1024 + 1)
    const set = await run(['sh', '-c', 'for i in $(seq 1100); do export V$i=a || exit 1; done'], { container })
    expect(set).toMatchObject({ code: 1, stderr: 'sh: write error: too many variables\n' })
  })

  test('shells in each other share the turns and the bounds of one command', async () => {
    const container = aContainer({ '/tmp/s': 'true | sh < /tmp/s', '/tmp/m': 'x'.repeat(6 * 1024 * 1024) })
    for (const script of ['sh < /tmp/s', `export S='exec sh -c "$S"'; sh -c "$S"; exit $(echo $?)`]) {
      expect(await sh(script, container)).toEqual({ code: 1, stdout: '', stderr: 'sh: more than 50 shells at once\n' })
    }
    const nested = `sh -c 'for i in 1 2; do true; true; done'; `.repeat(40)
    const [turn, sleep] = [vi.fn(async () => {}), vi.fn(async () => {})]
    await sh(nested, { ...container, turn, sleep })
    // 40 shells with a loop of two rounds and four commands each.
    expect(turn).toHaveBeenCalledTimes(2)
    expect(sleep).toHaveBeenCalledTimes(1)
    const held = 'true | { cat /tmp/m; { cat /tmp/m; sh -c "cat /tmp/m" > /tmp/c || echo full >&2; } > /tmp/b; } > /tmp/a; '
    const stderr = 'sh: write error: No space left on device: a simulated container takes at most 16 MiB from one command\nfull\n'
    expect(await sh(`${held}${'cat /tmp/m > /tmp/c && '.repeat(3)}echo free`, container)).toEqual({ code: 0, stdout: 'free\n', stderr })
  })

  test('test takes any number of negations', async () => {
    const negations = (count: number) => Array.from({ length: count }, () => '!')
    expect(await run(['test', ...negations(20_000), 'a'])).toMatchObject({ code: 0 })
    expect(await run(['test', ...negations(20_001), 'a'])).toMatchObject({ code: 1 })
  })

  test('a shell reads commands from its input, and its commands read the rest', async () => {
    expect(await run(['sh'], { stdin: ['echo one\nec', 'ho two\nexit 3\n', 'echo never\n'] })).toEqual({
      code: 3,
      stdout: 'one\ntwo\n',
      stderr: '',
    })
    expect(await run(['sh'], { stdin: ['cat\n', 'text for cat'] })).toEqual({ code: 0, stdout: 'text for cat', stderr: '' })
  })

  test('an archive that one container writes is read by another', async () => {
    const name = `${'long-name/'.repeat(20)}end`
    const [from, to] = [aContainer({ '/data/a': 'one', '/data/sub/b': 'x'.repeat(1000), [`/data/${name}`]: '' }), aContainer()]
    const { stdout, code } = await run(['tar', 'cf', '-', '-C', '/', 'data'], { container: from })
    expect(code).toBe(0)
    const bytes = Buffer.from(stdout, 'latin1')
    // Cut anywhere.
    const chunks = Array.from({ length: Math.ceil(bytes.length / 700) }, (_, index) => bytes.subarray(index * 700, (index + 1) * 700))
    expect(await run(['tar', '-xmf', '-', '-C', '/copy'], { container: to, stdin: chunks })).toEqual({ code: 0, stdout: '', stderr: '' })
    const texts = to.files
      .under('/copy')
      .flatMap(([path, entry]) => (entry.kind === 'file' ? [[path, Buffer.from(entry.bytes).toString()]] : []))
    expect(texts).toEqual([
      ['/copy/data/a', 'one'],
      [`/copy/data/${name}`, ''],
      ['/copy/data/sub/b', 'x'.repeat(1000)],
    ])
  })

  test('an archive stays in its container, and in the room that this has', async () => {
    const outside: ArchiveEntry = {
      path: '../../etc/motd',
      entry: { kind: 'file', bytes: Buffer.from('changed'), mode: 0o644, modifiedMs: 0 },
    }
    const container = aContainer()
    expect(await run(['tar', 'xf', '-', '-C', '/tmp'], { container, stdin: [...printTar([outside])] })).toMatchObject({ code: 0 })
    expect(container.files.get('/etc/motd')).toMatchObject({ bytes: Buffer.from('changed') })
    const bytes = new Uint8Array(30 * 1024 * 1024)
    const large = (index: number): ArchiveEntry => ({ path: `f${index}`, entry: { kind: 'file', bytes, mode: 0o644, modifiedMs: 0 } })
    expect(await run(['tar', 'xf', '-'], { stdin: [...printTar([large(1), large(2), large(3)])] })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tar: No space left on device: a simulated container takes at most 64 MiB in 10000 files\n',
    })
  })

  test.each([
    ['no archive', 'this is text'.repeat(100), 'invalid tar header'],
    [
      'an archive that ends early',
      Buffer.concat([...printTar([{ path: 'a', entry: { kind: 'file', bytes: Buffer.from('abc'), mode: 0, modifiedMs: 0 } }])]).subarray(
        0,
        514,
      ),
      'short read',
    ],
    [
      'an archive with a larger file',
      Buffer.concat([...printTar([{ path: 'a', entry: { kind: 'file', bytes: new Uint8Array(2 ** 21), mode: 0, modifiedMs: 0 } }])]),
      'No space left on device: a simulated container takes at most 1 MiB in one file of an archive',
    ],
  ])('%s is an error', async (_name, bytes, message) => {
    await expect(allOf(readArchive(chunksOf(bytes), 2 ** 20))).rejects.toThrow(message)
  })

  test('a terminal edits lines, and knows Control-C and Control-D', async () => {
    let shown = ''
    let interrupts = 0
    const parts = ['ab\x7fc\r', 'dropped\x03', 'rest', '\x04', '\x04', 'never\r'].map(
      (bytes) => ({ kind: 'stdin', bytes: Buffer.from(bytes) }) as const,
    )
    const lines = await allOf(
      typedInput({
        input: (async function* () {
          yield* parts
        })(),
        onSize() {},
        onInterrupt() {
          interrupts += 1
        },
        async echo(text) {
          shown += text
        },
      }),
    )
    expect(lines.map((line) => Buffer.from(line).toString())).toEqual(['ac\n', 'rest'])
    expect([shown, interrupts]).toEqual(['ab\b \bc\r\ndropped^C\r\nrest', 1])
  })

  test.each([
    ['/', 'a/./b', '/a/b'],
    ['/x', '../../y', '/y'],
    ['/x', '/', '/'],
  ])('from %s the path %s is %s', (from, path, expected) => {
    expect(resolvePath(from, path)).toBe(expected)
  })
})

describe('the volumes of containers', () => {
  const aMount = (path: string, tree: FileTree, rest: Partial<Mount> = {}): Mount => ({
    path,
    tree,
    from: '/',
    isReadOnly: tree.isReadOnly,
    ...rest,
  })
  const aContainerWith = (...mounts: readonly Mount[]) => {
    const files = containerFiles({ '/etc/motd': 'welcome\n' }, nowMs)
    files.mount(mounts, nowMs)
    return files
  }
  const mebibytes = (count: number) => new Uint8Array(count * 1024 * 1024)

  test('that are mounted in each other, or in themselves, have an end', () => {
    const [one, other] = [new FileTree(nowMs), new FileTree(nowMs)]
    const left = aContainerWith(aMount('/one/self', one), aMount('/one/other', other), aMount('/one', one))
    const right = aContainerWith(aMount('/other', other), aMount('/other/one', one))
    left.write('/one/other/file', mebibytes(1), nowMs)
    const pathsUnder = (files: typeof left, path: string) => files.under(path).map(([below]) => below)
    const ofOne = (path: string) => [path, `${path}/other`, `${path}/self`]
    expect(pathsUnder(left, '/one')).toEqual(['/one', '/one/other', '/one/other/file', '/one/other/one', ...ofOne('/one/self')])
    expect(pathsUnder(right, '/other')).toEqual(['/other', '/other/file', ...ofOne('/other/one')])
    expect(left.get('/one/self/other/file')).toBeUndefined()
  })

  test('have bounds that all containers share, and that the removal of a mount does not change', () => {
    const volume = new FileTree(nowMs)
    const [left, right] = [aContainerWith(aMount('/data', volume)), aContainerWith(aMount('/data', volume))]
    left.write('/data/a', mebibytes(40), nowMs)
    expect(() => left.remove('/data')).toThrow('Device or resource busy')
    expect(() => left.remove('/')).toThrow('Device or resource busy')
    expect(() => right.write('/data/b', mebibytes(30), nowMs)).toThrow('No space left on device')
    right.remove('/data/a')
    left.write('/data/b', mebibytes(60), nowMs)
    left.write('/c', mebibytes(60), nowMs)
    expect(() => right.write('/data/c', mebibytes(5), nowMs)).toThrow('No space left on device')
  })

  test('can be read-only, with writable ones in them', () => {
    const settings = new FileTree(nowMs, { isReadOnly: true })
    settings.write('/level', Buffer.from('debug'), nowMs)
    const work = new FileTree(nowMs)
    const files = aContainerWith(
      aMount('/settings', settings),
      aMount('/settings/cache', work),
      aMount('/data', work, { isReadOnly: true }),
      aMount('/level.txt', settings, { from: '/level' }),
    )
    files.write('/settings/cache/file', Buffer.from('text'), nowMs)
    expect(files.get('/data/file')).toMatchObject({ bytes: Buffer.from('text') })
    expect(files.get('/level.txt')).toMatchObject({ bytes: Buffer.from('debug') })
    for (const path of ['/settings/level', '/settings/new', '/data/file', '/level.txt'])
      expect(() => files.write(path, Buffer.from('no'), nowMs)).toThrow('Read-only file system')
    expect(() => files.makeDirectory('/data/new', nowMs)).toThrow('Read-only file system')
    expect(() => files.remove('/data/file')).toThrow('Read-only file system')
  })
})

test.each([
  ['mkdir /etc/motd/below', 'mkdir: Not a directory\n'],
  ['echo text > /etc', 'sh: write error: Is a directory\n'],
  [`mkdir ${'/a'.repeat(20_000)}`, 'mkdir: File name too long\n'],
])('a path that cannot be written is refused: %#', async (script, stderr) => {
  expect(await run(['sh', '-c', script])).toEqual({ code: 1, stdout: '', stderr })
})
