import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { portOf } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { canSharePorts, openSharedPort } from './shared-port.ts'

/** An address that only this process uses. */
const host = `127.78.${(process.pid >> 8) & 255}.${(process.pid & 253) + 1}`

async function listen(port: number, reusePort: boolean): Promise<Server> {
  const server = createServer()
  onTestFinished(() => void server.close())
  server.listen({ host, port, reusePort })
  await once(server, 'listening')
  return server
}

/** A port that was just released. */
async function aPort(): Promise<number> {
  const server = await listen(0, false)
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

const open = (port: number) => openSharedPort({ host, port }, async () => void (await listen(port, true)))

test.skipIf(!canSharePorts).each([true, false])('a port at which something listens is not opened, shared or not: %s', async (reusePort) => {
  const port = portOf(await listen(0, reusePort))
  await expect(open(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test.skipIf(!canSharePorts)('when several listeners open one port at once, one succeeds', async () => {
  const port = await aPort()
  const results = await Promise.allSettled([open(port), open(port), open(port)])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
})

test.skipIf(!canSharePorts)('an open port is joined', async () => {
  const port = await aPort()
  await open(port)
  expect(portOf(await listen(port, true))).toBe(port)
})
