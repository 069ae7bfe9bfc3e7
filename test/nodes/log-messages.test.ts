import { once } from 'node:events'
import { connect } from 'node:tls'
import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start } from 'orch'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { adminPair, call, credentialsOf } from '../identity/call.ts'
import { messagesFrom } from './tunnels.ts'

let server: RunningServer
const path = '/api/v1/namespaces/default/pods/web/log'
beforeAll(async () => {
  server = await start({ profile: 'kubernetes', nodes: 1, seed: 7 })
  await aPod('web')
  return () => server.stop()
})

async function aPod(name: string): Promise<ApiObject> {
  const metadata = { name, namespace: 'default', annotations: { 'simulation.orch.io/logs': 'one\ntwo' } }
  const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'img:1' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec } as ApiObject
  await server.client.objects.create(pod)
  await server.settled({ within: 60_000 })
  return pod
}

describe('a log over a WebSocket', () => {
  const bytes = [Buffer.from(''), Buffer.from('one\ntwo\n')]
  test.each([
    ['without a subprotocol', [], bytes],
    ['in binary', ['binary.k8s.io'], bytes],
    ['in base64', ['other', 'base64.binary.k8s.io'], ['', bytes[1]?.toString('base64')]],
  ])('begins with an empty message, has the lines, and is closed (%s)', async (_name, protocols, messages) => {
    expect(await messagesFrom(server, path, protocols)).toEqual({ code: 1000, messages, protocol: protocols.at(-1) ?? '' })
  })

  test('with an unsupported subprotocol is a 403', async () => {
    expect(await messagesFrom(server, path, ['v4.channel.k8s.io'])).toMatchObject({ code: 403, body: '' })
  })

  test('is refused with an HTTP answer if the request is invalid', async () => {
    const refused = await messagesFrom(server, `${path}?container=none`, ['binary.k8s.io'])
    expect({ code: refused.code, body: 'body' in refused && JSON.parse(refused.body) }).toMatchObject({
      code: 400,
      body: { kind: 'Status' },
    })
  })

  test('NODE-IO-08: is closed at the deletion of its Pod if it is followed', async () => {
    const pod = await aPod('brief')
    const url = `${server.url.replace(/^https/, 'wss')}${path.replace('web', 'brief')}?follow=true`
    const client = new WebSocket(url, await credentialsOf(server))
    const closed = once(client, 'close')
    await once(client, 'message')
    await server.client.objects.delete(pod)
    expect((await closed)[0]).toBe(1000)
  })

  test('is an ordinary answer if the client asks for another upgrade', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'h2c' }
    expect(await call(server, { path, pair: await adminPair(server), headers })).toMatchObject({ code: 200, body: 'one\ntwo\n' })
  })
})

test.each(['log?follow=true', 'exec?command=sleep&command=infinity&stdout=true', 'portforward?ports=80'])(
  'a WebSocket whose client disconnects with its request ends (%s)',
  async (request) => {
    const name = `quits-${request.slice(0, 3)}`
    await aPod(name)
    const { hostname: host, port } = new URL(server.url)
    const socket = connect({ host, port: Number(port), ...(await credentialsOf(server)) })
    const head = [
      `GET ${path.replace('web/log', `${name}/${request}`)} HTTP/1.1`,
      'Host: server',
      'Connection: Upgrade',
      'Upgrade: websocket',
    ]
    const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', '']
    socket.resume().end([...head, ...key].join('\r\n'))
    await once(socket, 'close')
    const ended = () => server.requests().filter((one) => one.name === name && one.subresource === request.split('?')[0])
    await expect.poll(ended).toHaveLength(1)
  },
)
