/**
 * `NODE_OPTIONS=--import` loads this file into each profiled process. It takes a V8 profile of the process when `main.ts` requests this over the socket
 * in PROFILE_SOCKET, and sends the profile back. It opens no listener.
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
  // Handles one message after the other: a profile must have begun before it can end.
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
