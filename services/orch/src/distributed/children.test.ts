import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LogFormat, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { AddressTakenError } from '../process/terminal.ts'
import { createChildren } from './children.ts'

/** The program of a child: `arguments` are its name and its behaviour. */
const program = `
const { appendFileSync } = require('node:fs')
const [notes, behaviour] = process.argv.slice(2)
appendFileSync(notes, 'started ')
process.on('SIGTERM', () => {
  if (behaviour === 'stubborn') return
  appendFileSync(notes, 'stopped ')
  process.exit(0)
})
process.on('disconnect', () => process.exit(0))
if (behaviour === 'unable') process.exit(3)
if (behaviour === 'late') {
  process.send({ kind: 'failed', reason: 'the port is taken', takenAddress: '127.0.0.1:2' }, () => process.exit(1))
  return
}
if (behaviour === 'complaining') {
  process.send({ kind: 'failed', reason: '--listen=x: this is no address' }, () => process.exit(2))
  return
}
process.stderr.write(process.argv.includes('--json') ? '{"level":"info","msg":"hello"}\\n' : 'hello\\n')
process.send({ kind: 'ready', address: '127.0.0.1:1', pid: String(process.pid) })
`

function someChildren(logFormat: LogFormat = 'text') {
  const folder = mkdtempSync(join(tmpdir(), 'children-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const entry = join(folder, 'program.cjs')
  writeFileSync(entry, program)
  const clock = createFakeClock()
  const lines: string[] = []
  const fallen = Promise.withResolvers<void>()
  const said = Promise.withResolvers<void>()
  const children = createChildren({
    node: { path: process.execPath, arguments: [], entry },
    env: {},
    workingFolder: folder,
    logFormat,
    clock,
    random: () => 0,
    log: { ...silentLog, error: () => fallen.resolve() },
    write(line) {
      lines.push(line)
      said.resolve()
    },
  })
  onTestFinished(() => children.stop(''))
  const notes = (name: string) => readFileSync(join(folder, name), 'utf8').trim().split(' ')
  const start = (name: string, ...rest: string[]) => children.start({ name, arguments: [join(folder, name), ...rest] })
  return { children, start, notes, lines, clock, fallen: fallen.promise, said: said.promise }
}

test('a child is ready by its own message, with its contents, and its lines have its name', async () => {
  const { start, lines, said } = someChildren()
  expect(await start('storage-0')).toMatchObject({ address: '127.0.0.1:1' })
  await said
  expect(lines).toEqual(['storage-0    | hello\n'])
})

test('lines for machines get an additional field', async () => {
  const { start, lines, said } = someChildren('json')
  await start('storage-0', 'well', '--json')
  await said
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([{ process: 'storage-0', level: 'info', msg: 'hello' }])
})

test('a child that ends before it was ready is a failure, and not started again', async () => {
  const { start, notes } = someChildren()
  await expect(start('storage-0', 'unable')).rejects.toThrow('storage-0 ended before it was ready: exit code 3')
  expect(notes('storage-0')).toEqual(['started'])
})

test('a child whose port another program has taken names the address', async () => {
  const { start, notes } = someChildren()
  const failure = await start('storage-0', 'late').catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(AddressTakenError)
  expect(failure).toMatchObject({ address: '127.0.0.1:2', message: 'storage-0 ended before it was ready: the port is taken' })
  expect(notes('storage-0')).toEqual(['started'])
})

test('the error of a failed start has the error output of the child', async () => {
  const { start } = someChildren()
  await expect(start('storage-0', 'complaining')).rejects.toThrow('storage-0 ended before it was ready: --listen=x: this is no address')
})

test('a child that ends later is started again after a pause', async () => {
  const { start, notes, clock, fallen, children } = someChildren()
  const { pid } = await start('storage-0')
  process.kill(Number(pid), 'SIGKILL')
  await fallen
  expect(notes('storage-0')).toEqual(['started'])
  clock.advance(10_000)
  await expect.poll(() => notes('storage-0'), { timeout: 20_000 }).toEqual(['started', 'started'])
  await children.stop('storage')
})

test('only processes with the name are stopped, and have ended afterwards', async () => {
  const { start, notes, children } = someChildren()
  const [storage] = await Promise.all([start('storage-0'), start('watch-0')])
  await children.stop('storage')
  expect(notes('storage-0')).toEqual(['started', 'stopped'])
  expect(notes('watch-0')).toEqual(['started'])
  expect(() => process.kill(Number(storage['pid']), 0)).toThrow('ESRCH')
})

test('a process that does not end when asked to is killed after a while', async () => {
  const { start, children, clock } = someChildren()
  const { pid } = await start('storage-0', 'stubborn')
  const stopping = children.stop('storage')
  clock.advance(75_000)
  await stopping
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})

test('a child that does not end by SIGTERM ends by SIGKILL', async () => {
  const { start, children } = someChildren()
  const { pid } = await start('storage-0', 'stubborn')
  await children.stop('storage', 'SIGKILL')
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})
