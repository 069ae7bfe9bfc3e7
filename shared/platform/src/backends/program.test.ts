import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { firstFreePort, lastFreePort } from './limits.ts'
import { freePorts } from './program.ts'

test('free ports differ, can be listened at, and are none that the system gives away by itself', async () => {
  const ports = await freePorts(300)
  expect(new Set(ports).size).toBe(300)
  expect(ports.filter((port) => port < firstFreePort || port > lastFreePort)).toEqual([])
  const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  for (const server of servers) server.close()
})

test('no port is given that somebody listens at', async () => {
  const isTaken = new Set(await freePorts(2_000))
  const servers = [...isTaken].map((port) => createServer().listen(port, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = await freePorts(300)
  for (const server of servers) server.close()
  expect(ports.filter((port) => isTaken.has(port))).toEqual([])
})
