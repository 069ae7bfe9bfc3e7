import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runChildToEnd } from './children.mjs'

const children = new URL('./children.mjs', import.meta.url).href

test('a child that ends by itself has a code and no signal', async () => {
  expect(await runChildToEnd(process.execPath, ['--eval', 'process.exitCode = 3'])).toEqual({ code: 3, signal: undefined })
})

test('a child that a signal ends has the exit code of a shell, and the signal', async () => {
  const dies = "process.kill(process.pid, 'SIGKILL')"
  expect(await runChildToEnd(process.execPath, ['--eval', dies])).toEqual({ code: 137, signal: 'SIGKILL' })
})

test.each([
  ['SIGTERM', 'SIGTERM'],
  ['SIGINT', 'SIGINT'],
  ['SIGHUP', 'SIGTERM'],
])('%s is passed on to the child, and ends it', async (sent, seen) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const child = join(folder, 'child.mjs')
  writeFileSync(
    child,
    "for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => { console.log(name); process.exit(0) })\nsetInterval(() => {}, 1e6)\nconsole.log('ready')",
  )
  const script = `const { runChildToEnd } = await import('${children}'); console.log(JSON.stringify(await runChildToEnd(process.execPath, ['${child}'])))`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let told = ''
  parent.stdout.on('data', (chunk) => {
    told += chunk
    if (told === 'ready\n') parent.kill(sent)
  })
  await once(parent, 'close')
  expect(told.trim().split('\n')).toEqual(['ready', seen, JSON.stringify({ code: 0, signal: sent })])
})
