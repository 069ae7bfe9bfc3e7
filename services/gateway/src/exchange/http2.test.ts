import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Http2Exchange } from './http2.ts'

test('LIM-12: the stream of a request without a body ends with its last byte, before that byte has left', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const hasLeft: boolean[] = []
  server.on('stream', (stream, headers, _flags, rawHeaders) => {
    stream.once('close', () => hasLeft.push(stream.writableFinished))
    new Http2Exchange(stream, headers, rawHeaders, { kind: 'unknown' }).send(200, {}, 'ok')
  })
  await once(client.request({ ':path': '/' }).resume(), 'close')
  await expect.poll(() => hasLeft).toEqual([false])
  client.close()
  server.close()
})
