import type { ApiObject, Status } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { beforeAll, describe, expect, test } from 'vitest'
import { type RunningServer, start } from '../start/start.ts'

const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
let server: RunningServer
beforeAll(async () => {
  server = await start({ profile: 'kubernetes', nodes: 1, clock, seed: 7, featureGates: ['PodLogsQuerySplitStreams=true'] })
  return () => server.stop()
})

const pods = () => server.client.resource<ApiObject>({ group: '', version: 'v1', plural: 'pods', namespaced: true })

/** Creates a Pod on the node, and waits until it is settled. */
async function aPod(name: string, annotations: Readonly<Record<string, string>> = {}, spec: object = {}): Promise<void> {
  const prefixed = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`simulation.orch.io/${key}`, value]))
  const containers = [{ name: 'main', image: 'img:1' }]
  const metadata = { name, namespace: 'default', annotations: prefixed }
  await pods().create({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'node-1', containers, ...spec } } as ApiObject)
  await server.settled({ within: 60_000 })
}

const decoder = new TextDecoder()

async function openLog(name: string, query = '') {
  return server.client.transport.send({ method: 'GET', path: `/api/v1/namespaces/default/pods/${name}/log?${query}`, headers: {} })
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk)
  return text
}

const logOf = async (name: string, query = '') => textOf((await openLog(name, query)).body)

/** Resolves when the log is open; `text` is all of it. */
async function follow(name: string, query = ''): Promise<{ readonly text: Promise<string> }> {
  const { body } = await openLog(name, `follow=true&${query}`)
  return { text: textOf(body) }
}

/** `code: message` of a refusal. */
async function refusalOf(name: string, query = ''): Promise<string> {
  const { code, message } = JSON.parse(await logOf(name, query)) as Status
  return `${code}: ${message}`
}

const once = { restartPolicy: 'Never' }

describe('the log of a simulated container', () => {
  test('NODE-IO-04, NODE-IO-06, NODE-IO-07: is chosen by time, number of lines and bytes, and has times of nine digits', async () => {
    await aPod('ticks', { logs: `up\nevery 1s: tick \${n}` })
    const startMs = clock.now()
    await clock.advance('5s')
    const at = (seconds: number) => new Date(startMs + seconds * 1000).toISOString()
    const answers = await Promise.all(
      [
        '',
        'tailLines=2',
        'tailLines=0',
        'sinceSeconds=1',
        `sinceTime=${at(4)}`,
        'tailLines=1&sinceSeconds=1',
        'limitBytes=5',
        'tailLines=2&limitBytes=9',
        'container=main&tailLines=1&insecureSkipTLSVerifyBackend=true',
        'stream=Stdout',
        'stream=Stderr',
        'tailLines=1&timestamps=true',
        'tailLines=1&timestamps=true&limitBytes=4',
      ].map(async (query) => [query, await logOf('ticks', query)]),
    )
    expect(Object.fromEntries(answers)).toEqual({
      '': 'up\ntick 1\ntick 2\ntick 3\ntick 4\ntick 5\n',
      'tailLines=2': 'tick 4\ntick 5\n',
      'tailLines=0': '',
      'sinceSeconds=1': 'tick 4\ntick 5\n',
      [`sinceTime=${at(4)}`]: 'tick 4\ntick 5\n',
      'tailLines=1&sinceSeconds=1': 'tick 5\n',
      'limitBytes=5': 'up\nti',
      'tailLines=2&limitBytes=9': 'tick 4\nti',
      'container=main&tailLines=1&insecureSkipTLSVerifyBackend=true': 'tick 5\n',
      'stream=Stdout': 'up\ntick 1\ntick 2\ntick 3\ntick 4\ntick 5\n',
      'stream=Stderr': '',
      'tailLines=1&timestamps=true': `${at(5).replace('Z', '000000Z')} tick 5\n`,
      'tailLines=1&timestamps=true&limitBytes=4': '2030',
    })
    expect(await refusalOf('ticks', 'sinceTime=soon')).toBe(
      '400: parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"',
    )
    const { status, headers, body } = await openLog('ticks', 'tailLines=0')
    expect([status, headers['content-type'], await textOf(body)]).toEqual([200, 'text/plain', ''])
  })

  test('follows a PodScript, which names the stream of each line', async () => {
    const scripts = server.client.resource<ApiObject>({
      group: 'simulation.orch.io',
      version: 'v1',
      plural: 'podscripts',
      namespaced: true,
    })
    const logs = [{ text: 'up' }, { at: '1s', text: 'lost', stream: 'Stderr' }]
    const spec = { images: ['noisy:*'], containers: [{ name: '*', logs }] }
    await scripts.create({
      apiVersion: 'simulation.orch.io/v1',
      kind: 'PodScript',
      metadata: { name: 'noisy', namespace: 'default' },
      spec,
    } as ApiObject)
    await server.settled({ within: 60_000 })
    await aPod('noisy', {}, { containers: [{ name: 'main', image: 'noisy:1' }] })
    await clock.advance('1s')
    expect(await Promise.all(['', 'stream=Stdout', 'stream=Stderr'].map((query) => logOf('noisy', query)))).toEqual([
      'up\nlost\n',
      'up\n',
      'lost\n',
    ])
  })

  test('NODE-IO-08: is followed to the last line of the run, and not into the next run', async () => {
    await aPod('job', { 'run-for': '3s', 'exit-code': '4', logs: `every 1s: tick \${n}\nend: bye \${code}` })
    const followed = await follow('job')
    const limited = await follow('job', 'limitBytes=8')
    await clock.advance('10s')
    expect(await followed.text).toBe('tick 1\ntick 2\ntick 3\nbye 4\n')
    expect(await limited.text).toBe('tick 1\nt')
  })

  test('NODE-IO-08: ends for its followers when the Pod is deleted', async () => {
    await aPod('gone', { shutdown: '2s' })
    const followed = await follow('gone')
    await pods().delete('gone', { namespace: 'default' })
    await clock.advance('5s')
    expect(await followed.text).toBe('main: started, simulated from image img:1\nmain: ended with exit code 0\n')
    expect(await refusalOf('gone')).toBe('404: pods "gone" not found')
  })

  test('NODE-IO-10: has a line at the start and one at the end, also of the run before, and of a Pod that has finished', async () => {
    await aPod('done', { 'run-for': '1s', 'exit-code': '2' }, once)
    await clock.advance('2s')
    expect(await logOf('done')).toBe('main: started, simulated from image img:1\nmain: ended with exit code 2\n')
    await aPod('again', { 'exit-codes': '1,0', logs: `every 400ms: tick \${n}\nend: \${code}` })
    await clock.advance('1500ms')
    expect(await logOf('again', 'previous=true')).toBe('tick 1\ntick 2\n1\n')
    expect(await logOf('again')).toBe('tick 1\n')
  })

  test('has no line at the start if the container waits for input, as kubectl run -i shows the log before it attaches', async () => {
    await aPod('waiting', {}, { containers: [{ name: 'main', image: 'i', stdin: true, command: ['cat'] }] })
    expect(await logOf('waiting')).toBe('')
  })

  test('NODE-IO-01, NODE-IO-09: is refused with the reason of the kubelet', async () => {
    await aPod('slow', { 'pull-delay': '5s' })
    expect(await refusalOf('slow')).toBe('400: container "main" in pod "slow" is waiting to start: ContainerCreating')
    expect(await refusalOf('slow', 'previous=true')).toBe('400: previous terminated container "main" in pod "slow" not found')
    await aPod('unpulled', { image: 'fail' })
    expect(await refusalOf('unpulled')).toBe('400: container "main" in pod "unpulled" is waiting to start: image can\'t be pulled')
    await clock.advance('2s')
    expect(await refusalOf('unpulled')).toBe(
      '400: container "main" in pod "unpulled" is waiting to start: trying and failing to pull image',
    )
    const two = {
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'i' },
      ],
      initContainers: [{ name: 'first', image: 'i' }],
    }
    await aPod('two', { 'run-for.first': '9s' }, two)
    expect(await refusalOf('two')).toBe('400: a container name must be specified for pod two, choose one of: [first a b]')
    expect(await refusalOf('two', 'container=c')).toBe('400: container c is not valid for pod two')
    expect(await refusalOf('two', 'container=a')).toBe('400: container "a" in pod "two" is waiting to start: PodInitializing')
    expect(await logOf('two', 'container=first')).toBe('first: started, simulated from image i\n')
  })

  test.each([
    ['tailLines=-1', 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=1&sinceTime=2030-01-01T00:00:00Z', ': Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'],
  ])('NODE-IO-05: is refused for %s', async (query, problem) => {
    await aPod(`bad-${problem.length}`)
    expect(await refusalOf(`bad-${problem.length}`, query)).toBe(`422: PodLogOptions "bad-${problem.length}" is invalid: ${problem}`)
  })

  test('cannot be read from a node that is switched off, and a follower of it is cut off', async () => {
    await aPod('cut')
    const { text } = await follow('cut')
    const cut = text.catch((error: Error) => error.message)
    const node = server.nodes.get('node-1')
    node.stop()
    expect(await cut).toContain('closed')
    expect(await refusalOf('cut')).toBe(
      '500: Internal error occurred: node "node-1" cannot be reached: it is simulated, and no process runs it',
    )
    await node.start()
  })
})

test('NODE-MET-05, NODE-MET-09: a node answers health, Pods, statistics and metrics through its proxy, by the usage that annotations give', async () => {
  const spec = {
    containers: [
      { name: 'main', image: 'i' },
      { name: 'side', image: 'i' },
    ],
  }
  await aPod('used', { 'usage.main': 'cpu=250m,memory=64Mi' }, spec)
  await clock.advance('10s')
  const ask = async (path: string, method = 'GET') => {
    const { status, body } = await server.client.transport.send({ method, path: `/api/v1/nodes/node-1/proxy/${path}`, headers: {} })
    return { status, text: await textOf(body) }
  }
  expect(await ask('healthz')).toEqual({ status: 200, text: 'ok' })
  const { items } = JSON.parse((await ask('pods')).text) as { readonly items: readonly ApiObject[] }
  expect(items.map(({ metadata }) => metadata.name)).toContain('used')
  const summary = JSON.parse((await ask('stats/summary')).text) as {
    readonly node: { readonly nodeName: string }
    readonly pods: readonly { readonly podRef: { readonly name: string }; readonly containers: readonly object[] }[]
  }
  expect(summary.node.nodeName).toBe('node-1')
  expect(summary.pods.find(({ podRef }) => podRef.name === 'used')).toMatchObject({
    cpu: { usageNanoCores: 251_000_000 },
    memory: { workingSetBytes: 84 * 1024 * 1024 },
    containers: [
      { name: 'main', cpu: { usageNanoCores: 250_000_000 }, memory: { workingSetBytes: 64 * 1024 * 1024 } },
      { name: 'side', cpu: { usageNanoCores: 1_000_000 }, memory: { workingSetBytes: 20 * 1024 * 1024 } },
    ],
  })
  const metrics = (await ask('metrics/resource')).text
  expect(metrics).toMatch(/^container_cpu_usage_seconds_total\{container="main",namespace="default",pod="used"\} 2\.\d+ \d+$/m)
  expect(metrics).toContain(`container_memory_working_set_bytes{container="side",namespace="default",pod="used"} ${20 * 1024 * 1024} `)
  expect(await ask('configz')).toMatchObject({ status: 404, text: expect.stringContaining('simulated nodes do not answer /configz') })
  expect(await ask('healthz', 'POST')).toMatchObject({ status: 405 })
})
