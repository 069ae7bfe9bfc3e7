import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start } from 'orch'
import { beforeAll, describe, expect, test } from 'vitest'
import { controlFrame, words } from './spdy-client.ts'
import { type ChannelClient, channelsTo, execBySpdy, spdyTo } from './tunnels.ts'

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true } as const
let server: RunningServer
let echo: Server
beforeAll(async () => {
  server = await start({ profile: 'kubernetes', nodes: 1, seed: 7 })
  echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  const { port } = echo.address() as AddressInfo
  await server.client.objects.create({
    apiVersion: 'simulation.orch.io/v1',
    kind: 'PodScript',
    metadata: { name: 'scripted', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'scripted' } },
      containers: [
        {
          name: '*',
          exec: [{ command: ['pg_isready', '-U*', '*'], exitCode: 2, stdout: 'no response\n', stderr: 'tried\n' }],
          ports: [
            { port: 8080, http: { status: 201, body: 'made' } },
            { port: 5432, forwardTo: `127.0.0.1:${port}` },
          ],
        },
      ],
    },
  } as ApiObject)
  await server.settled({ within: 60_000 })
  await aPod('scripted', { containers: [container('main')] }, {}, { app: 'scripted' })
  await aPod('web', { containers: [container('main', { env: [{ name: 'COLOR', value: 'blue' }] }), container('side')] })
  await aPod('alone', { containers: [container('main')] })
  await aPod('shell', { containers: [container('main', { stdin: true, tty: true })], restartPolicy: 'Never' })
  await aPod('logging', { containers: [container('main', { stdin: false })] })
  await aPod('ended', { containers: [container('main')], restartPolicy: 'Never' }, { 'simulation.orch.io/run-for': '0s' })
  await aPod('unbound', { containers: [container('main')], schedulerName: 'none' })
  await server.settled({ within: 60_000 })
  return async () => {
    await server.stop()
    echo.close()
  }
})

const container = (name: string, rest: object = {}) => ({ name, image: 'busybox', ...rest })

async function aPod(name: string, spec: object, annotations: object = {}, labels: object = {}): Promise<void> {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', annotations, labels }, spec }
  await server.client.objects.create(pod as ApiObject)
}

const pathOf = (pod: string, subresource: string, query: string) => `/api/v1/namespaces/default/pods/${pod}/${subresource}?${query}`
const exec = (words: readonly string[], flags = 'stdout=true&stderr=true', pod = 'web') =>
  pathOf(pod, 'exec', `${words.map((word) => `command=${encodeURIComponent(word)}`).join('&')}&container=main&${flags}`)
const withStdin = 'stdin=true&stdout=true&stderr=true'
const exitOf = (code: number) => ({
  metadata: {},
  status: 'Failure',
  message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
})
const success = { metadata: {}, status: 'Success' }

async function channels(path: string, ...protocols: string[]): Promise<ChannelClient> {
  const client = await channelsTo(server, path, protocols)
  if ('code' in client) throw new Error(`${client.code}: ${client.body}`)
  return client
}

describe('exec over SPDY', () => {
  test.each([
    [['echo', 'hello', 'there'], '', { stdout: 'hello there\n', stderr: '' }, success],
    [['cat'], 'from the client', { stdout: 'from the client', stderr: '' }, success],
    [['sh', '-c', 'echo $COLOR; exit 3'], '', { stdout: 'blue\n', stderr: '' }, exitOf(3)],
    [['cat', '/none'], '', { stdout: '', stderr: "cat: can't open '/none': No such file or directory\n" }, exitOf(1)],
    [
      ['nosuch'],
      '',
      {
        stdout: '',
        stderr:
          'OCI runtime exec failed: exec failed: unable to start container process: exec: "nosuch": executable file not found in $PATH: unknown\n',
      },
      exitOf(126),
    ],
  ] as const)('NODE-IO-12, NODE-IO-13, NODE-IO-14: of %j returns its output, and then its Status', async (words, stdin, output, status) => {
    const { error, ...streams } = await execBySpdy(server, exec(words, withStdin), { stdin })
    expect(streams).toEqual(output)
    expect(JSON.parse(error)).toEqual(status)
  })

  test.each(['v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'])(
    'NODE-IO-14: with %s reports a failure as text, and success as no text',
    async (protocol) => {
      expect(await execBySpdy(server, exec(['false']), { protocol })).toMatchObject({
        error: 'command terminated with non-zero exit code: command terminated with exit code 1',
      })
      expect(await execBySpdy(server, exec(['true']), { protocol })).toMatchObject({ error: '' })
    },
  )

  test('NODE-IO-15, NODE-IO-22: with a terminal echoes input, ends lines with a carriage return, and accepts sizes', async () => {
    const { stdout, error } = await execBySpdy(server, exec(['sh'], 'stdin=true&stdout=true&tty=true'), { stdin: 'echo one\rexit 4\r' })
    expect(stdout).toBe('/ # echo one\r\nexit 4\r\none\r\n/ # ')
    expect(JSON.parse(error)).toEqual(exitOf(4))
  })

  test('NODE-IO-12: with an unsupported protocol is a 403 with the supported ones', async () => {
    const refused = await spdyTo(server, exec(['true']), { headers: { 'x-stream-protocol-version': ['v9', 'v8'] } })
    expect(refused).toMatchObject({
      code: 403,
      body: 'unable to upgrade: unable to negotiate protocol: client supports [v9 v8], server accepts [v4.channel.k8s.io v3.channel.k8s.io v2.channel.k8s.io channel.k8s.io]',
      headers: { 'x-accepted-stream-protocol-versions': 'v4.channel.k8s.io, v3.channel.k8s.io, v2.channel.k8s.io, channel.k8s.io' },
    })
  })
})

describe('exec over WebSocket', () => {
  test('NODE-IO-16, NODE-IO-17, NODE-IO-18, NODE-IO-19: with v5 begins with an empty message, ends the input at a signal, and closes after the Status', async () => {
    const client = await channels(exec(['cat'], withStdin), 'v5.channel.k8s.io')
    expect(client.protocol).toBe('v5.channel.k8s.io')
    client.send(0, 'some input')
    client.client.send(Buffer.from([255, 0]))
    expect(await client.closed).toBe(1000)
    expect(client.textOf(1)).toBe('some input')
    expect(JSON.parse(client.textOf(3))).toEqual(success)
    expect([client.order[0], client.order.at(-1)]).toEqual([1, 3])
  })

  test.each([
    [['v4.channel.k8s.io'], 'v4.channel.k8s.io', true],
    [['v4.base64.channel.k8s.io'], 'v4.base64.channel.k8s.io', true],
    [['base64.channel.k8s.io'], 'base64.channel.k8s.io', false],
    [['x.example.com', 'channel.k8s.io'], 'channel.k8s.io', false],
    [[], '', false],
  ])('NODE-IO-16: with the subprotocols %j selects %j', async (offered, chosen, tellsStatus) => {
    const client = await channels(exec(['sh', '-c', 'echo out; nosuch']), ...offered)
    expect(client.protocol).toBe(chosen)
    expect(await client.closed).toBe(1000)
    expect([client.textOf(1), client.textOf(2)]).toEqual(['out\n', 'sh: nosuch: not found\n'])
    const end = exitOf(127)
    expect(client.textOf(3)).toBe(tellsStatus ? JSON.stringify(end) : end.message)
  })

  test('NODE-IO-16: with an unsupported subprotocol is a 403', async () => {
    expect(await channelsTo(server, exec(['true']), ['v7.channel.k8s.io'])).toMatchObject({ code: 403 })
  })

  test('NODE-IO-17: with the end of an unknown channel is a protocol error', async () => {
    const client = await channels(exec(['cat'], withStdin), 'v5.channel.k8s.io')
    client.client.send(Buffer.from([255, 9]))
    expect(await client.closed).toBe(1002)
  })

  test('NODE-IO-21: kills a command whose container ends', async () => {
    await aPod('killed', { containers: [container('main')], terminationGracePeriodSeconds: 0 })
    await server.settled({ within: 60_000 })
    const client = await channels(exec(['sleep', 'infinity'], withStdin, 'killed'), 'v5.channel.k8s.io')
    await server.client.resource(pods).delete('killed', { namespace: 'default' })
    expect(await client.closed).toBe(1000)
    expect(JSON.parse(client.textOf(3))).toEqual(exitOf(137))
  })
})

describe('attach', () => {
  test('NODE-IO-23: runs the program of a container with stdin, whose end is the end of the container', async () => {
    const client = await channels(pathOf('shell', 'attach', 'stdin=true&stdout=true&tty=true'), 'v5.channel.k8s.io')
    client.send(0, 'echo in the container\rexit 5\r')
    expect(await client.closed).toBe(1000)
    expect(client.textOf(1)).toContain('\r\nin the container\r\n')
    expect(JSON.parse(client.textOf(3))).toEqual(success)
    await server.settled({ within: 60_000 })
    const pod = await server.client.resource<ApiObject & { status: object }>(pods).get('shell', { namespace: 'default' })
    expect(pod.status).toMatchObject({ phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 5 } } }] })
  })

  test('NODE-IO-23: without input lasts until the container ends', async () => {
    const client = await channels(pathOf('logging', 'attach', 'stdout=true&stderr=true'), 'v5.channel.k8s.io')
    await server.client.resource(pods).delete('logging', { namespace: 'default' })
    expect(await client.closed).toBe(1000)
    expect(JSON.parse(client.textOf(3))).toEqual(success)
  })
})

describe('a tunnel', () => {
  test.each([
    ['no node', exec(['true'], 'stdout=true', 'unbound'), 400, 'pod unbound does not have a host assigned'],
    ['no such Pod', exec(['true'], 'stdout=true', 'none'), 404, 'pods "none" not found'],
    ['no such container', pathOf('web', 'exec', 'container=x&command=true&stdout=true'), 400, 'container x is not valid for pod web'],
    [
      'two containers and no choice',
      pathOf('web', 'attach', 'stdout=true'),
      400,
      'a container name must be specified for pod web, choose one of: [main side]',
    ],
    ['no stream', exec(['true'], ''), 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['an ended container', exec(['true'], 'stdout=true', 'ended'), 500, 'container not found ("main")'],
    ['a port that is none', pathOf('web', 'portforward', 'ports=0'), 400, 'unable to parse "0" as a port: must be from 1 to 65535'],
  ])('NODE-IO-01, NODE-IO-02, NODE-IO-11: to %s is refused', async (_name, path, code, text) => {
    const refused = await channelsTo(server, path, ['v4.channel.k8s.io'])
    expect(refused).toMatchObject({ code })
    expect('body' in refused && refused.body).toContain(
      text.replaceAll('"', refused && 'body' in refused && refused.body.startsWith('{') ? '\\"' : '"'),
    )
  })

  test('NODE-IO-03: by GET needs the right to create as well, from 1.35 on', async () => {
    const readOnly = [{ verbs: ['get'], apiGroups: [''], resources: ['pods/exec', 'pods/portforward'] }]
    const { kubeconfig } = server.user('reader', { rules: readOnly })
    const { url } = server
    for (const path of [exec(['true']), pathOf('web', 'portforward', 'ports=80')]) {
      const refused = await channelsTo({ url, kubeconfig }, path, ['v4.channel.k8s.io'])
      expect(refused).toMatchObject({ code: 403 })
      expect(JSON.parse('body' in refused ? refused.body : '{}')).toMatchObject({
        reason: 'Forbidden',
        message: 'pods "web" is forbidden: ',
        details: { name: 'web', kind: 'pods' },
      })
    }
    const creator = server.user('creator', { rules: [{ ...readOnly[0], verbs: ['get', 'create'] }] })
    const client = await channelsTo({ url, kubeconfig: creator.kubeconfig }, exec(['true']), ['v5.channel.k8s.io'])
    expect('closed' in client && (await client.closed)).toBe(1000)
  })

  test('NODE-IO-30: without an upgrade request is a 400, over HTTP/2 too', async () => {
    for (const path of [exec(['true']), pathOf('web', 'portforward', '')]) {
      const { status, body } = await server.client.transport.send({ method: 'POST', path, headers: {} })
      let text = ''
      for await (const chunk of body) text += Buffer.from(chunk).toString()
      expect([status, JSON.parse(text).message]).toEqual([400, 'Upgrade request required'])
    }
  })

  test('NODE-IO-27: to an unserved port is refused on the error stream', async () => {
    const tunnel = await spdyTo(server, pathOf('web', 'portforward', ''), {
      headers: { 'x-stream-protocol-version': 'portforward.k8s.io' },
    })
    if (tunnel.kind === 'refused') throw new Error(tunnel.body)
    const { client } = tunnel
    const error = client.open({ streamtype: 'error', port: '80', requestid: '0' }, true)
    const data = client.open({ streamtype: 'data', port: '80', requestid: '0' })
    await client.until(() => client.hasEndOf(data) && client.hasEndOf(error))
    expect(client.textOf(error)).toMatch(
      /^error forwarding port 80 to pod web, uid : .* dial tcp4 127\.0\.0\.1:80: connect: connection refused/,
    )
  })

  test.each(['spdy', 'channels'] as const)(
    'NODE-IO-24, NODE-IO-28: to ports of a script gets fixed answers, or reaches a server of the test, over %s',
    async (way) => {
      const request = 'GET / HTTP/1.1\r\n\r\n'
      const answer = 'HTTP/1.1 201 Created\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmade'
      if (way === 'channels') {
        const client = await channels(pathOf('scripted', 'portforward', 'ports=8080&ports=5432'), 'v4.channel.k8s.io')
        client.send(0, request)
        client.send(2, 'echoed')
        await client.until(() => client.textOf(0).endsWith('made') && client.textOf(2).endsWith('echoed'))
        expect([client.textOf(0).slice(2), client.textOf(2).slice(2)]).toEqual([answer, 'echoed'])
        return
      }
      const tunnel = await spdyTo(server, pathOf('scripted', 'portforward', ''), {
        headers: { 'x-stream-protocol-version': 'portforward.k8s.io' },
      })
      if (tunnel.kind === 'refused') throw new Error(tunnel.body)
      const { client } = tunnel
      const open = (port: string, requestid: string) => {
        client.open({ streamtype: 'error', port, requestid }, true)
        return client.open({ streamtype: 'data', port, requestid })
      }
      const [http, echoed] = [open('8080', '0'), open('5432', '1')]
      client.write(http, request)
      client.write(echoed, 'echoed', true)
      await client.until(() => client.hasEndOf(http) && client.hasEndOf(echoed))
      expect([client.textOf(http), client.textOf(echoed)]).toEqual([answer, 'echoed'])
    },
  )

  test('NODE-IO-22: runs a command that a script answers', async () => {
    const { error, ...streams } = await execBySpdy(
      server,
      exec(['pg_isready', '-Upg', '-d', 'shop'], 'stdout=true&stderr=true', 'scripted'),
    )
    expect(streams).toEqual({ stdout: 'no response\n', stderr: 'tried\n' })
    expect(JSON.parse(error)).toEqual(exitOf(2))
    expect(await execBySpdy(server, exec(['echo', 'hi'], 'stdout=true', 'scripted'))).toMatchObject({ stdout: 'hi\n' })
  })

  test('NODE-IO-22, NODE-IO-28: to a script in code runs a command with input, and reaches a port', async () => {
    using _script = server.nodes.script({ name: 'alone' }, (c) => {
      c.exec(['greet', '*'], async ({ command, env, stdin, stdout, stderr }) => {
        let given = ''
        for await (const bytes of stdin) given += Buffer.from(bytes).toString()
        await stdout(`${command[1]} ${given} on ${env['HOSTNAME']}`)
        await stderr('said')
        return 5
      })
      c.exec(['broken'], () => {
        throw new TypeError('no such thing')
      })
      c.port(7000, async ({ input, write }) => {
        for await (const bytes of input) await write(Buffer.from(bytes).toString().toUpperCase())
      })
    })
    const { error, ...streams } = await execBySpdy(server, exec(['greet', 'hello', 'you'], withStdin, 'alone'), { stdin: 'there' })
    expect(streams).toEqual({ stdout: 'hello there on alone', stderr: 'said' })
    expect(JSON.parse(error)).toEqual(exitOf(5))
    expect(await execBySpdy(server, exec(['broken'], 'stdout=true&stderr=true', 'alone'))).toMatchObject({
      stderr: 'TypeError: no such thing\n',
    })
    const client = await channels(pathOf('alone', 'portforward', 'ports=7000'), 'v4.channel.k8s.io')
    client.send(0, 'quiet')
    await client.until(() => client.textOf(0).endsWith('QUIET'))
  })

  test.each(['resets its stream', 'disconnects'] as const)(
    'to a port ends when the client %s, even if its script ignores the input',
    async (how) => {
      const [served, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      using _script = server.nodes.script({ name: 'alone' }, (c) => {
        c.port(7001, async ({ signal }) => {
          signal.addEventListener('abort', () => ended.resolve())
          served.resolve()
          await ended.promise
        })
      })
      const tunnel = await spdyTo(server, pathOf('alone', 'portforward', ''), {
        headers: { 'x-stream-protocol-version': 'portforward.k8s.io' },
      })
      if (tunnel.kind === 'refused') throw new Error(tunnel.body)
      const { client } = tunnel
      const error = client.open({ streamtype: 'error', port: '7001', requestid: '0' }, true)
      const data = client.open({ streamtype: 'data', port: '7001', requestid: '0' })
      client.write(data, 'bye', true)
      await served.promise
      if (how === 'disconnects') client.destroy()
      else client.send(controlFrame(3, 0, words(data, 5)))
      await ended.promise
      await client.until(() => client.hasEndOf(error))
      expect(client.hasEnded).toBe(how === 'disconnects')
    },
  )

  test('NODE-IO-25: to a port over channels begins with the port number on both channels', async () => {
    const client = await channels(pathOf('alone', 'portforward', 'ports=80&ports=8080'), 'v4.channel.k8s.io')
    await client.closed
    expect([0, 1, 2, 3].map((channel) => client.textOf(channel).slice(0, 2))).toEqual(['P\0', 'P\0', '\x90\x1f', '\x90\x1f'])
    expect(client.textOf(3)).toContain('error forwarding port 8080 to pod alone')
  })
})

test('NODE-IO-20: a command over v5 runs at level 1.27, and tunnels are closed when the server stops', async () => {
  const other = await start({ profile: 'kubernetes', nodes: 1, flags: ['--emulated-version=1.27'] })
  await other.client.objects.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    spec: { containers: [container('main')] },
  } as ApiObject)
  await other.settled({ within: 60_000 })
  const client = await channelsTo(other, exec(['sleep', 'infinity'], withStdin), ['v5.channel.k8s.io'])
  const tunnel = await spdyTo(other, pathOf('web', 'portforward', ''), { headers: { 'x-stream-protocol-version': 'portforward.k8s.io' } })
  expect('protocol' in client && client.protocol).toBe('v5.channel.k8s.io')
  await other.stop()
  expect('closed' in client && (await client.closed)).toBeTypeOf('number')
  if (tunnel.kind === 'open') await tunnel.client.until(() => false)
  expect(tunnel.kind === 'open' && tunnel.client.hasEnded).toBe(true)
})
