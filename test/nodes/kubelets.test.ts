import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { ApiObject } from '@orch/core/meta'
import { portOf, silentLog } from '@orch/platform'
import { aCertificate } from '@orch/platform/any-certificate'
import { type Effect, loseReply, type RunningServer, refuse, refuseConnection, start } from 'orch'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { adminPair, type Call, call, credentialsOf } from '../identity/call.ts'
import { aSmallKubelet, type SmallKubelet } from './small-kubelet.ts'
import { type ChannelClient, channelsTo, execBySpdy, messagesFrom, spdyTo, tunnelTo } from './tunnels.ts'

let kubelet: SmallKubelet
let server: RunningServer
let flags: string[]
const lines: string[] = []

beforeAll(async () => {
  kubelet = await aSmallKubelet()
  const folder = mkdtempSync(join(tmpdir(), 'kubelet-'))
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  flags = [
    `--kubelet-certificate-authority=${file('ca.crt', kubelet.authority)}`,
    `--kubelet-client-certificate=${file('client.crt', kubelet.client.certificate)}`,
    `--kubelet-client-key=${file('client.key', kubelet.client.key)}`,
    '--kubelet-preferred-address-types=InternalIP,Hostname',
    '--kubelet-timeout=2s',
  ]
  const log = {
    ...silentLog,
    info: (fields: object, text: string) => void lines.push(`${text}: ${JSON.stringify(fields)}`),
    child: () => log,
  }
  server = await start({ profile: 'kubernetes', nodes: 1, seed: 7, flags: [...flags, '--kubelet-local-addresses'], log })
  await aPod(server, 'web', await aNode(server, 'real', kubelet.port))
  return async () => {
    await server.stop()
    await kubelet.stop()
    rmSync(folder, { recursive: true })
  }
})
beforeEach(() => {
  kubelet.arrived.length = 0
})

async function aNode(
  on: RunningServer,
  name: string,
  port: number,
  { address = '127.0.0.1', features = [] as string[] } = {},
): Promise<string> {
  const { client } = on
  await client.objects.create({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
  const addresses = address === '' ? [] : [{ type: 'InternalIP', address }]
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } }, declaredFeatures: features }
  await client
    .resource({ group: '', version: 'v1', plural: 'nodes', namespaced: false })
    .patch(name, { status }, { type: 'merge', subresource: 'status' })
  return name
}

async function aPod(on: RunningServer, name: string, nodeName: string, podIP?: string): Promise<string> {
  const spec = { nodeName, containers: [{ name: 'main', image: 'i', ports: [{ containerPort: 8080 }] }] }
  await on.client.objects.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec } as ApiObject)
  const pods = on.client.resource({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  if (podIP !== undefined)
    await pods.patch(name, { status: { podIP, podIPs: [{ ip: podIP }] } }, { type: 'merge', subresource: 'status', namespace: 'default' })
  return name
}

const pathOf = (pod: string, rest: string) => `/api/v1/namespaces/default/pods/${pod}/${rest}`
const get = async (path: string, options: Call = {}, on = server) => call(on, { path, pair: await adminPair(on), ...options })
const exec = (words: string, rest = 'stdin=true&stdout=true&stderr=true') =>
  pathOf(
    'web',
    `exec?${words
      .split(' ')
      .map((word) => `command=${word}`)
      .join('&')}&${rest}`,
  )
const exitOf = (code: string) => ({
  metadata: {},
  status: 'Failure',
  message: `command terminated with non-zero exit code: exit status ${code}`,
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: code }] },
})

async function channels(path: string, ...protocols: string[]): Promise<ChannelClient> {
  const client = await channelsTo(server, path, protocols)
  if ('code' in client) throw new Error(`${client.code}: ${client.body}`)
  return client
}

test('a fault of outgoing calls applies to calls to a kubelet, by the name of its node and the operation', async () => {
  const codes = async (effect: Effect) => {
    using fault = server.faults.add({ on: { outgoing: 'kubelet/real/logs' }, times: 1, effect })
    const { code } = await get(pathOf('web', 'log'))
    expect(fault.hits).toBe(1)
    return [code, kubelet.arrived.splice(0).length]
  }
  expect(await codes(refuseConnection())).toEqual([500, 0])
  expect(await codes(refuse(503))).toEqual([503, 0])
  expect(await codes(loseReply())).toEqual([500, 1])
})

describe('the log of a Pod on a node with a kubelet', () => {
  test('is requested over HTTPS, with the certificate of this server and every option', async () => {
    const { code, body, headers } = await get(
      pathOf('web', 'log?follow=true&previous=true&timestamps=1&tailLines=3&limitBytes=99&sinceTime=2026-01-02T03:04:05Z'),
    )
    expect([code, headers['content-type']]).toEqual([200, 'text/plain'])
    const path =
      '/containerLogs/default/web/main?follow=true&previous=true&timestamps=true&limitBytes=99&tailLines=3&sinceTime=2026-01-02T03%3A04%3A05Z'
    expect(body).toBe(`GET ${path} \n`)
    const [{ caller, headers: sent } = { caller: '', headers: {} }] = kubelet.arrived
    expect(caller).toBe('kube-apiserver-kubelet-client')
    expect(Object.keys(sent)).toEqual(['host', 'connection'])
  })

  test.each([
    [400, 'container "main" is waiting', { reason: 'BadRequest', message: 'container "main" is waiting' }],
    [404, 'none', { reason: 'NotFound', message: 'the server could not find the requested resource ( pods/log web)' }],
    [500, 'broken', { reason: 'InternalError', message: 'Internal error occurred: broken' }],
    [302, 'elsewhere', { message: 'the server responded with the status code 302 but did not return more information ( pods/log web)' }],
  ])('that the kubelet refuses with %i is returned with the Status of kube-apiserver', async (code, text, expected) => {
    kubelet.answer = (_arrived, response) => response.writeHead(code).end(text)
    onTestFinished(() => {
      kubelet.answer = (_arrived, response) => response.end()
    })
    expect((await get(pathOf('web', 'log'))).body).toMatchObject({ kind: 'Status', code, ...expected })
  })

  test('is streamed as it is written, and breaks off if the kubelet does', async () => {
    kubelet.answer = (_arrived, response) => {
      response.write('first\n')
      kubelet.answer = (_second, ended) => {
        ended.end()
        response.destroy()
      }
    }
    const sent = request(new URL(pathOf('web', 'log?follow=true'), server.url), await credentialsOf(server)).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const reading = response[Symbol.asyncIterator]()
    expect(String((await reading.next()).value)).toBe('first\n')
    await get('/api/v1/nodes/real/proxy/x')
    await expect(reading.next()).rejects.toThrow('aborted')
  })

  test('is sent as messages of a WebSocket', async () => {
    kubelet.answer = (_arrived, response) => response.end('first\n')
    expect(await messagesFrom(server, pathOf('web', 'log'), ['binary.k8s.io'])).toMatchObject({
      code: 1000,
      messages: [Buffer.from(''), Buffer.from('first\n')],
    })
  })
})

test.each([pathOf('web', 'log?follow=true'), '/api/v1/nodes/real/proxy/endless'])(
  'an endless answer to a client that does not read waits at the kubelet, and ends with the client (%s)',
  async (path) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    let writtenMb = 0
    const closed = new Promise<void>((resolve) => {
      kubelet.answer = (_arrived, response) => {
        const write = () => {
          for (let goesOn = true; goesOn && !response.destroyed; writtenMb++) goesOn = response.write(chunk)
        }
        kubelet.answer = (_other, ended) => void ended.end()
        response.on('drain', write).on('close', resolve)
        write()
      }
    })
    const sent = request(new URL(path, server.url), { ...(await credentialsOf(server)), agent: false }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    // Each request through the server lets it pass on all that it would.
    for (let [stillFor, before] = [0, 0]; stillFor < 10 && writtenMb < 100; before = writtenMb) {
      await get('/api/v1/nodes/real/proxy/other')
      stillFor = writtenMb === before ? stillFor + 1 : 0
    }
    expect(writtenMb).toBeLessThan(64)
    response.destroy()
    await closed
  },
)

describe('a command in a Pod on a node with a kubelet', () => {
  test.each(['v4.channel.k8s.io', 'v3.channel.k8s.io'])('over SPDY is forwarded unchanged (%s)', async (protocol) => {
    const end = await execBySpdy(server, exec('exit 7'), { stdin: 'from the client', protocol })
    expect({ ...end, error: JSON.parse(end.error) }).toEqual({ stdout: 'from the client', stderr: 'done\n', error: exitOf('7') })
    expect(kubelet.arrived).toMatchObject([
      {
        method: 'POST',
        url: '/exec/default/web/main?command=exit&command=7&error=1&input=1&output=1',
        caller: 'kube-apiserver-kubelet-client',
      },
    ])
    expect(kubelet.arrived[0]?.headers).not.toHaveProperty('authorization')
    expect(kubelet.arrived[0]?.headers).not.toHaveProperty('x-remote-user')
  })

  test('over version 4 of the channels is forwarded unchanged', async () => {
    const client = await channels(exec('cat'), 'v4.channel.k8s.io')
    client.send(0, 'echo')
    await client.until(() => client.textOf(0) === 'echo')
    expect(kubelet.arrived).toMatchObject([{ method: 'GET', headers: { 'sec-websocket-protocol': 'v4.channel.k8s.io' } }])
    client.client.close(1000)
    expect(await client.closed).toBe(1000)
  })

  test('over version 5 is sent to the kubelet over SPDY, with the end of its input, its exit code and its size', async () => {
    const client = await channels(exec('exit 7'), 'v5.channel.k8s.io')
    client.send(0, 'half')
    client.send(0, ' closed')
    client.client.send(Buffer.from([255, 0]))
    expect(await client.closed).toBe(1000)
    expect([client.textOf(1), client.textOf(2), JSON.parse(client.textOf(3))]).toEqual(['half closed', 'done\n', exitOf('7')])
    expect(kubelet.arrived).toMatchObject([
      { method: 'POST', headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' } },
    ])
    const terminal = await channels(pathOf('web', 'attach?stdin=true&stdout=true&tty=true'), 'v5.channel.k8s.io')
    terminal.send(4, '{"Width":80,"Height":24}')
    await terminal.until(() => terminal.textOf(1) !== '')
    expect(terminal.textOf(1)).toBe('size {"Width":80,"Height":24}')
    terminal.client.send(Buffer.from([255, 0]))
    await terminal.closed
    expect(JSON.parse(terminal.textOf(3))).toEqual({ metadata: {}, status: 'Success' })
    expect(kubelet.arrived.at(-1)?.url).toBe('/attach/default/web/main?input=1&output=1&tty=1')
  })

  test('over version 5 is forwarded unchanged to a kubelet that declares support', async () => {
    await aPod(server, 'newest', await aNode(server, 'newest', kubelet.port, { features: ['ExtendWebSocketsToKubelet'] }))
    const client = await channels(pathOf('newest', 'exec?command=cat&stdin=true&stdout=true'), 'v5.channel.k8s.io')
    client.send(0, 'echo')
    await client.until(() => client.textOf(0) === 'echo')
    expect(kubelet.arrived).toMatchObject([{ method: 'GET', headers: { upgrade: 'websocket' } }])
  })

  test("that the kubelet refuses has the kubelet's message, or the Status of version 5", async () => {
    kubelet.upgrade = (_request, socket) => void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone')
    onTestFinished(() => {
      kubelet.upgrade = undefined
    })
    expect(await spdyTo(server, exec('ls'))).toMatchObject({ kind: 'refused', code: 404, body: 'gone' })
    const client = await channels(exec('ls'), 'v5.channel.k8s.io')
    await client.closed
    expect(JSON.parse(client.textOf(3))).toMatchObject({
      reason: 'InternalError',
      message: 'Internal error occurred: unable to upgrade connection: gone',
    })
  })
})

describe('ports of a Pod on a node with a kubelet', () => {
  test('are forwarded over SPDY', async () => {
    const tunnel = await spdyTo(server, pathOf('web', 'portforward?ports=80'), {
      headers: { 'x-stream-protocol-version': 'portforward.k8s.io' },
    })
    if (tunnel.kind === 'refused') throw new Error(tunnel.body)
    const { client } = tunnel
    client.open({ streamtype: 'error', port: '80', requestid: '0' }, true)
    const data = client.open({ streamtype: 'data', port: '80', requestid: '0' })
    client.write(data, 'ping', true)
    await client.until(() => client.hasEndOf(data))
    expect(client.textOf(data)).toBe('port 80: ping')
    expect(kubelet.arrived.map(({ url }) => url)).toEqual(['/portForward/default/web?port=80'])
  })

  test('NODE-IO-26: are forwarded from the messages of a WebSocket to the kubelet over SPDY', async () => {
    const { client, protocol } = await tunnelTo(server, pathOf('web', 'portforward?ports=80'), 'SPDY/3.1+portforward.k8s.io')
    expect(protocol).toBe('SPDY/3.1+portforward.k8s.io')
    client.open({ streamtype: 'error', port: '80', requestid: '0' }, true)
    const data = client.open({ streamtype: 'data', port: '80', requestid: '0' })
    client.write(data, 'ping', true)
    await client.until(() => client.hasEndOf(data))
    expect(client.textOf(data)).toBe('port 80: ping')
    expect(kubelet.arrived).toMatchObject([
      { method: 'POST', headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' } },
    ])
  })
})

describe('the proxy of a node with a kubelet', () => {
  beforeEach(() => {
    kubelet.answer = ({ method, url, body, headers }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/to/there' }).end()
      else response.writeHead(201, { 'content-type': 'text/plain' }).end(`${method} ${url} ${body} ${headers['x-remote-user']}`)
    }
  })

  test('forwards method, path, query and body', async () => {
    const answer = await get('/api/v1/nodes/real/proxy/run/a%20b/?x=1&y=%2F', { method: 'POST', body: { a: 1 } })
    expect([answer.code, answer.body]).toEqual([201, 'POST /run/a%20b/?x=1&y=%2F {"a":1} undefined'])
    expect((await get(`/api/v1/nodes/real:${kubelet.port}/proxy/x`)).body).toBe('GET /x  undefined')
    const by = async (method: string) => Object.values(await get('/api/v1/nodes/real/proxy/x', { method })).slice(0, 1)
    expect([await by('HEAD'), await by('OPTIONS')]).toEqual([[201], [201]])
    const dry = await get('/api/v1/nodes/real/proxy/x?dryRun=All', { method: 'POST' })
    expect(dry.body).toMatchObject({ code: 400, message: 'dryRun is not supported' })
  })

  test('keeps redirects below its path, and begins with a slash', async () => {
    expect((await get('/api/v1/nodes/real/proxy/moved')).headers.location).toBe('/api/v1/nodes/real/proxy/to/there')
    const bare = await get('/api/v1/nodes/real/proxy?x=1')
    expect([bare.code, bare.headers.location]).toEqual([301, '/api/v1/nodes/real/proxy/?x=1'])
  })

  test('refuses invalid names', async () => {
    expect((await get('/api/v1/nodes/ftp:real:1/proxy/x')).body).toMatchObject({ code: 400, message: 'invalid node request "ftp:real:1"' })
  })

  test('still serves the simulated node', async () => {
    expect((await get('/api/v1/nodes/node-1/proxy/healthz')).body).toBe('ok')
  })
})

test('the proxy of a Pod forwards to its address, and to the scripted port of a simulated Pod', async () => {
  const web = createHttpServer((request, response) => response.end(`${request.method} ${request.url}`)).listen(0, '127.0.0.1')
  await new Promise((resolve) => web.once('listening', resolve))
  onTestFinished(() => void web.close())
  await aPod(server, 'direct', 'real', '127.0.0.1')
  expect((await get(pathOf(`direct:${portOf(web)}`, 'proxy/a?b=1'))).body).toBe('GET /a?b=1')
  expect((await get(pathOf(`http:direct:${portOf(web)}`, 'proxy/'))).body).toBe('GET /')
  server.nodes.script({ name: 'simulated' }, (c) =>
    c.port(8080, (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsimulated')),
  )
  await aPod(server, 'simulated', 'node-1')
  await server.settled({ within: 60_000 })
  expect((await get(pathOf('simulated', 'proxy/x'))).body).toBe('simulated')
})

describe('a kubelet that cannot be reached', () => {
  const dead = async () => {
    const listener = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => listener.once('listening', resolve))
    const port = portOf(listener)
    await new Promise((resolve) => listener.close(resolve))
    return port
  }

  test('causes a Status in the words of kube-apiserver, and one log line', async () => {
    const port = await dead()
    await aPod(server, 'dead', await aNode(server, 'dead', port))
    const refused = `dial tcp 127.0.0.1:${port}: connect: connection refused`
    lines.length = 0
    expect((await get(pathOf('dead', 'log'))).body).toMatchObject({
      code: 500,
      message: `Get "https://127.0.0.1:${port}/containerLogs/default/dead/main": ${refused}`,
    })
    expect(await spdyTo(server, pathOf('dead', 'exec?command=ls&stdout=1'))).toMatchObject({
      code: 500,
      body: expect.stringContaining(`error dialing backend: ${refused}`),
    })
    expect((await get('/api/v1/nodes/dead/proxy/x')).body).toMatchObject({
      code: 503,
      message: `error trying to reach service: ${refused}`,
    })
    expect(lines.map((line) => line.split(':')[0])).toEqual(
      Array.from({ length: 3 }, () => 'a request needs what this server does not reach'),
    )
  })

  test('has no usable address', async () => {
    await aPod(server, 'lost', await aNode(server, 'lost', 1, { address: '' }))
    expect((await get(pathOf('lost', 'log'))).body).toMatchObject({
      code: 500,
      message: 'no preferred addresses found; known addresses: []',
    })
    const usual = await start({ profile: 'kubernetes', flags })
    onTestFinished(() => usual.stop())
    for (const [index, address] of ['127.0.0.1', '::1', '169.254.169.254', '::ffff:127.0.0.1', 'fe80::1', '0.0.0.0'].entries()) {
      await aPod(usual, `p${index}`, await aNode(usual, `n${index}`, kubelet.port, { address }))
      for (const path of [pathOf(`p${index}`, 'log'), `/api/v1/nodes/n${index}/proxy/healthz`]) {
        expect((await get(path, {}, usual)).body).toMatchObject({
          code: 400,
          message: expect.stringContaining(`address not allowed: ${address}`),
        })
      }
    }
    await aPod(usual, 'named', await aNode(usual, 'named', kubelet.port, { address: 'localhost' }))
    expect((await get(pathOf('named', 'log'), {}, usual)).body).toMatchObject({
      code: 500,
      message: expect.stringContaining('localhost has only addresses of this machine'),
    })
    expect(kubelet.arrived).toEqual([])
  })

  test.each([
    ['other bytes', (socket: TLSSocket) => void socket.end('SSH-2.0\r\n'), /./],
    ['two lengths', (socket: TLSSocket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'), /./],
    [
      'a length and chunks',
      (socket: TLSSocket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      /./,
    ],
    [
      'a change of the protocol',
      (socket: TLSSocket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      /./,
    ],
    [
      'a redirect',
      (socket: TLSSocket) => void socket.end('HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\nContent-Length: 0\r\n\r\n'),
      /redirects forbidden/,
    ],
  ])('answers with %s', async (name, answer, text) => {
    const port = await badServer(answer)
    const pod = name.replaceAll(' ', '-')
    await aPod(server, pod, await aNode(server, pod, port))
    const { body } = await get(pathOf(pod, 'log'))
    expect(body).toMatchObject({ kind: 'Status', code: 500, message: expect.stringMatching(text) })
    expect((await get('/readyz')).code).toBe(200)
  })

  test('has a certificate of another authority, which a log request may skip', async () => {
    const { certificate, key } = await aCertificate({ commonName: 'x', use: 'server' })
    const port = await badServer((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), { certificate, key })
    await aPod(server, 'stranger', await aNode(server, 'stranger', port))
    expect((await get(pathOf('stranger', 'log'))).body).toMatchObject({ code: 500, message: expect.stringContaining('certificate') })
    expect((await get(pathOf('stranger', 'log?insecureSkipTLSVerifyBackend=true'))).body).toBe('ok')
  })

  async function badServer(answer: (socket: TLSSocket) => void, pair?: { certificate: string; key: string }): Promise<number> {
    const { certificate, key } = pair ?? kubelet.serving
    const bad = createTlsServer({ cert: certificate, key }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => answer(socket))
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => bad.once('listening', resolve))
    onTestFinished(() => void bad.close())
    return portOf(bad)
  }
})
