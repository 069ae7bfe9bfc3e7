import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { keepRunning } from './keep-running.ts'
import { firstFreePort, lastFreePort } from './limits.ts'
import { freePorts, openProgram } from './program.ts'

// A separate range: processes of other tests reuse ports of the usual range at the same time.
const few = { first: firstFreePort - 100, last: firstFreePort - 61 }

async function listening(ports: readonly number[]) {
  const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  onTestFinished(() => {
    for (const server of servers) server.close()
  })
}

test('free ports differ, and are outside of the ephemeral range', async () => {
  const ports = await freePorts(30)
  expect(new Set(ports).size).toBe(30)
  expect(ports.filter((port) => port < firstFreePort || port > lastFreePort)).toEqual([])
})

test('free ports can be listened on, and a used port is never returned', async () => {
  const taken = await freePorts(20, few)
  await listening(taken)
  const ports = await freePorts(12, few)
  expect(ports.filter((port) => taken.includes(port))).toEqual([])
  await listening(ports)
})

test('too few free ports are an error with that reason', async () => {
  const three = { first: few.last + 1, last: few.last + 3 }
  await freePorts(2, three)
  await expect(freePorts(2, three)).rejects.toThrow(`2 free ports from ${three.first} to ${three.last} were not found`)
})

test('a program that ends by itself is started again at its address, until it is stopped', async () => {
  const [port] = await freePorts(1)
  const script = `require('node:http').createServer((_, response) => response.end()).listen(${port}, '127.0.0.1'); console.error('hello')`
  const healthUrl = `http://127.0.0.1:${port}`
  const program = await openProgram({
    path: process.execPath,
    arguments: ['-e', script],
    address: `127.0.0.1:${port}`,
    dataDir: '',
    healthUrl,
  })
  const ending = new AbortController()
  const ends: string[] = []
  const options = { clock: systemClock, random: () => 0, signal: ending.signal, onEnd: (end: string) => void ends.push(end) }
  const kept = keepRunning(program, options)
  const first = program.pid ?? 0
  process.kill(first, 'SIGKILL')
  await expect
    .poll(async () => program.pid !== undefined && program.pid !== first && (await fetch(healthUrl)).ok, { timeout: 20_000 })
    .toBe(true)
  ending.abort()
  await program.stop()
  await kept
  expect([ends, program.pid]).toEqual([['SIGKILL: hello'], undefined])
})
