/**
 * Loaded into each process that is profiled (`NODE_OPTIONS=--import`): takes a profile of V8 of its own process when `main.ts`
 * asks for one over the socket that PROFILE_SOCKET names, and hands it over. It listens nowhere.
 */
import { Session } from 'node:inspector/promises'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { isMainThread } from 'node:worker_threads'

const path = process.env['PROFILE_SOCKET']
if (isMainThread && path !== undefined) void follow(connect(path))

async function follow(socket) {
  socket.unref()
  socket.on('error', () => {})
  socket.write(`${JSON.stringify({ pid: process.pid })}\n`)
  let session
  // One word after the other: a profile has to have begun before it ends.
  for await (const line of createInterface({ input: socket })) {
    if (line === 'start') {
      session = new Session()
      session.connect()
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: 500 })
      await session.post('Profiler.start')
    } else if (line === 'stop' && session !== undefined) {
      const { profile } = await session.post('Profiler.stop')
      session.disconnect()
      session = undefined
      socket.write(`${JSON.stringify({ pid: process.pid, profile })}\n`)
    }
  }
}
