import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '../start/running-server.ts'
import { start } from '../start/start.ts'

const namespace = 'default'
const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })

interface Pod extends ApiObject {
  readonly status: {
    readonly phase: string
    readonly podIP?: string
    readonly containerStatuses?: readonly {
      readonly state: object
      readonly lastState: object
      readonly ready: boolean
      readonly restartCount: number
    }[]
  }
}

describe('a container whose command depends on no image', () => {
  let server: RunningServer

  beforeAll(async () => {
    server = await start({ profile: 'kubernetes', nodes: 1, clock, seed: 7 })
    await server.settled({ within: 60_000 })
  })
  afterAll(() => server?.stop())

  async function run(
    name: string,
    container: object,
    { annotations = {}, ...spec }: { annotations?: object } & Record<string, unknown> = {},
  ) {
    await server.client.objects.create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, annotations } },
      spec: { restartPolicy: 'Never', nodeName: 'node-1', containers: [{ name: 'main', image: 'busybox', ...container }], ...spec },
    } as ApiObject)
    await server.settled({ within: 60_000 })
  }
  const statusOf = async (name: string) => (await server.client.objects.get<Pod>({ apiVersion: 'v1', kind: 'Pod', namespace, name })).status
  const logOf = async (name: string) => {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/log`
    const { body } = await server.client.transport.send({ method: 'GET', path, headers: {} })
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  test('runs it: its output is the log, and its exit status is the container’s', async () => {
    await run('fails', { command: ['sh', '-c', 'echo one; echo -n two; exit 3'] })
    const { phase, containerStatuses } = await statusOf('fails')
    expect([phase, containerStatuses?.[0]?.state]).toMatchObject(['Failed', { terminated: { exitCode: 3, reason: 'Error' } }])
    expect(await logOf('fails')).toBe('one\ntwo')
    // As kubectl run writes it, for an image without an entry point.
    await run('succeeds', { args: ['/bin/true'] })
    expect([(await statusOf('succeeds')).phase, await logOf('succeeds')]).toEqual(['Succeeded', ''])
    await run('checks', { command: ['sh', '-c', 'test $(id -u) -eq 65534'], securityContext: { runAsUser: 65_533 } })
    expect((await statusOf('checks')).phase).toBe('Failed')
  })

  test('knows its variables, in the references of the command and in the shell', async () => {
    const env = [
      { name: 'NAME', value: 'web' },
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    ]
    await run('variables', { command: ['sh', '-c'], args: ['echo $(NAME) $NODE $$NAME $CPU'], env })
    expect(await logOf('variables')).toBe('web node-1 web 8\n')
    await run('unknown', { command: ['echo', '$(constructor)\n'] })
    expect(await logOf('unknown')).toBe('$(constructor)\n\n')
  })

  test('has the variables of the Services of its namespace that were there at its start', async () => {
    const aService = (name: string, spec: object) =>
      server.client.objects.create({ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec } as ApiObject)
    await aService('my-db', {
      clusterIP: '10.0.0.77',
      ports: [
        { port: 5432, name: 'sql-in' },
        { port: 53, name: 'dns', protocol: 'UDP' },
      ],
    })
    await aService('headless', { clusterIP: 'None', ports: [{ port: 80 }] })
    await server.settled({ within: 60_000 })
    await run('linked', {
      command: ['sh', '-c', 'echo $MY_DB_PORT_53_UDP $(WHERE)'],
      env: [{ name: 'WHERE', value: 'at $(MY_DB_SERVICE_HOST)' }],
    })
    expect(await logOf('linked')).toBe('udp://10.0.0.77:53 at 10.0.0.77\n')
    await run('all', { command: ['env'] })
    const lines = (await logOf('all')).split('\n')
    expect(lines.filter((line) => line.startsWith('MY_DB')).sort()).toEqual([
      'MY_DB_PORT=tcp://10.0.0.77:5432',
      'MY_DB_PORT_53_UDP=udp://10.0.0.77:53',
      'MY_DB_PORT_53_UDP_ADDR=10.0.0.77',
      'MY_DB_PORT_53_UDP_PORT=53',
      'MY_DB_PORT_53_UDP_PROTO=udp',
      'MY_DB_PORT_5432_TCP=tcp://10.0.0.77:5432',
      'MY_DB_PORT_5432_TCP_ADDR=10.0.0.77',
      'MY_DB_PORT_5432_TCP_PORT=5432',
      'MY_DB_PORT_5432_TCP_PROTO=tcp',
      'MY_DB_SERVICE_HOST=10.0.0.77',
      'MY_DB_SERVICE_PORT=5432',
      'MY_DB_SERVICE_PORT_DNS=53',
      'MY_DB_SERVICE_PORT_SQL_IN=5432',
    ])
    expect(lines.filter((line) => line.startsWith('HEADLESS'))).toEqual([])
    expect(lines).toContain('KUBERNETES_SERVICE_PORT_HTTPS=443')
    await run('unlinked', { command: ['env'] }, { enableServiceLinks: false })
    const others = await logOf('unlinked')
    expect([others.includes('MY_DB'), others.includes('KUBERNETES_SERVICE_HOST=')]).toEqual([false, true])
  })

  test('knows its host name, its hosts and its user', async () => {
    await run(
      'identity',
      { command: ['sh', '-c', 'hostname; id; cat /etc/hosts; echo $HOSTNAME'], securityContext: { runAsUser: 1001 } },
      {
        ...{ hostname: 'web', subdomain: 'team', setHostnameAsFQDN: true },
        hostAliases: [{ ip: '123.45.67.89', hostnames: ['foo', 'bar'] }],
        securityContext: { runAsUser: 1, runAsGroup: 2002, fsGroup: 3000, supplementalGroups: [4000] },
      },
    )
    const name = 'web.team.default.svc.cluster.local'
    const { podIP } = await statusOf('identity')
    expect((await logOf('identity')).split('\n')).toEqual([
      ...[name, 'uid=1001 gid=2002 groups=2002,3000,4000', '# Kubernetes-managed hosts file.', '127.0.0.1\tlocalhost'],
      ...['::1\tlocalhost ip6-localhost ip6-loopback', 'fe00::0\tip6-localnet', 'fe00::0\tip6-mcastprefix', 'fe00::1\tip6-allnodes'],
      ...['fe00::2\tip6-allrouters', `${podIP}\t${name}\tweb`, '', '# Entries added by HostAliases.', '123.45.67.89\tfoo\tbar', name, ''],
    ])
    await run('of-node', { command: ['sh', '-c', 'hostname; whoami'] }, { hostNetwork: true, hostname: 'other' })
    expect(await logOf('of-node')).toBe('node-1\nroot\n')
  })

  test('runs loops, conditions and files of its own', async () => {
    await run('counter', { command: ['sh', '-c', 'i=0; while true; do echo "$i: $(date)"; i=$((i+1)); sleep 1; done'] })
    await clock.advance('2s')
    expect((await logOf('counter')).split('\n')).toEqual(['0', '1', '2'].map((n) => expect.stringMatching(`^${n}: `)).concat(['']))
    const env = [{ name: 'INDEX', value: '1' }]
    await run('index', { command: ['sh', '-c', 'if [ "$INDEX" -gt 0 ]; then echo no > /data/a; cat /data/a; exit 3; fi'], env })
    expect((await statusOf('index')).phase).toBe('Running')
    const volumes = { volumes: [{ name: 'data', emptyDir: {} }] }
    const mounted = { env, volumeMounts: [{ name: 'data', mountPath: '/data' }] }
    const command = ['sh', '-c', 'if [ "$INDEX" -gt 0 ]; then echo no > /data/a; cat /data/a; exit 3; fi']
    await run('mounted', { command, ...mounted }, volumes)
    expect([(await statusOf('mounted')).phase, await logOf('mounted')]).toEqual(['Failed', 'no\n'])
  })

  test('is probed by commands that depend on no image', async () => {
    const probe = (command: readonly string[], more: object = {}) => ({ exec: { command }, periodSeconds: 5, failureThreshold: 1, ...more })
    const spec = { restartPolicy: 'Always', terminationGracePeriodSeconds: 0 }
    const script = 'touch /tmp/healthy; sleep 8; touch /tmp/ready; sleep 20; rm -f /tmp/healthy; sleep 600'
    const container = {
      command: ['sh', '-c', script],
      livenessProbe: probe(['cat', '/tmp/healthy'], { initialDelaySeconds: 5 }),
      readinessProbe: probe(['sh', '-c', '[ -f /tmp/ready ] && exit 0; exit 1']),
    }
    await run('probed', container, spec)
    const probed = async () => (await statusOf('probed')).containerStatuses?.[0]
    expect(await probed()).toMatchObject({ ready: false, restartCount: 0 })
    await clock.advance('11s')
    expect(await probed()).toMatchObject({ ready: true, restartCount: 0 })
    await clock.advance('20s')
    expect(await probed()).toMatchObject({ ready: false, restartCount: 1 })
    const { items } = await server.client.resource({ group: '', version: 'v1', plural: 'events', namespaced: true }).listAll({ namespace })
    const message = "Liveness probe failed: cat: can't open '/tmp/healthy': No such file or directory"
    expect(items).toContainEqual(expect.objectContaining({ message, involvedObject: expect.objectContaining({ name: 'probed' }) }))
    await run('imaged', { command: ['sh', '-c', 'sleep 600'], readinessProbe: probe(['pg_isready']) }, spec)
    expect((await statusOf('imaged')).containerStatuses?.[0]).toMatchObject({ ready: true })
    await run('never', { readinessProbe: probe(['/bin/false']) }, spec)
    expect((await statusOf('never')).containerStatuses?.[0]).toMatchObject({ ready: false })
  })

  test('holds no clock by a loop without an end', async () => {
    const auto = virtualClock({ start: new Date('2030-01-01T00:00:00Z'), auto: true })
    await using other = await start({ profile: 'kubernetes', nodes: 1, clock: auto, controllers: ['namespace'] })
    const pod = (name: string, script: string) =>
      other.client.objects.create({
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } },
        spec: {
          restartPolicy: 'Never',
          nodeName: 'node-1',
          containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', script] }],
        },
      } as ApiObject)
    await pod('busy', 'while true; do true; done')
    await pod('slow', 'while true; do sleep 1; done')
    await pod('last', 'for i in 1 2 3; do sleep 10; done; exit 7')
    await other.settled({ within: 300_000 })
    const { status } = await other.client.objects.get<Pod>({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'last' })
    expect(status.phase).toBe('Failed')
  })

  test('does not grow without end by references', async () => {
    const env = [{ name: 'A', value: 'x'.repeat(100_000) }]
    const big = 'x'.repeat(200_000)
    await run('long', { command: ['echo', '$(A)'.repeat(10_000)], env })
    expect(await logOf('long')).toBe(`${big}${'$(A)'.repeat(9_998)}\n`)
    await run('long-script', { command: ['sh', '-c', `echo ${'$A '.repeat(10_000)}`], env })
    expect((await logOf('long-script')).length).toBeLessThan(300_000)
    await run('many', { command: ['echo', ...Array.from({ length: 10_000 }, () => '$(A)')], env })
    expect((await statusOf('many')).containerStatuses?.[0]?.state).toMatchObject({
      terminated: { exitCode: 128, message: 'exec echo: argument list too long' },
    })
  })

  test('runs a script of thousands of commands, for which its Pod is read once', async () => {
    await run('commands', { command: ['sh', '-c', `${'echo one;'.repeat(5_000)}exit 4`] })
    expect((await statusOf('commands')).containerStatuses?.[0]?.state).toMatchObject({ terminated: { exitCode: 4 } })
  })

  test('leaves a message at its end', async () => {
    await run('message', { command: ['sh', '-c', 'echo -n DONE > /dev/termination-log'] })
    expect((await statusOf('message')).containerStatuses?.[0]?.state).toMatchObject({ terminated: { exitCode: 0, message: 'DONE' } })
    await run('other-message', { command: ['sh', '-c', 'echo lost > /tmp/why; exit 1'], terminationMessagePath: '/tmp/why' })
    expect((await statusOf('other-message')).containerStatuses?.[0]?.state).toMatchObject({ terminated: { message: 'lost\n' } })
  })

  test('has the end of its log as the message by FallbackToLogsOnError, if it fails without another', async () => {
    const messageOf = async (name: string) => {
      const [status] = (await statusOf(name)).containerStatuses ?? []
      return status?.state
    }
    const policy = { terminationMessagePolicy: 'FallbackToLogsOnError' }
    const long = 'x'.repeat(2_000)
    await run('last-lines', { command: ['sh', '-c', `echo first; echo ${long}; echo ${'y'.repeat(100)}; exit 1`], ...policy })
    expect(await messageOf('last-lines')).toMatchObject({ terminated: { message: `${`${long}\n${'y'.repeat(100)}\n`.slice(-2_048)}` } })
    await run('many-lines', { command: ['sh', '-c', `${'echo one;'.repeat(100)}exit 1`], ...policy })
    expect(await messageOf('many-lines')).toMatchObject({ terminated: { message: 'one\n'.repeat(80) } })
    await run('good', { command: ['echo', 'one'], ...policy })
    expect(await messageOf('good')).not.toHaveProperty('terminated.message')
    await run('written', { command: ['sh', '-c', 'echo one; echo two > /dev/termination-log; exit 1'], ...policy })
    expect(await messageOf('written')).toMatchObject({ terminated: { message: 'two\n' } })
    const annotations = {
      'simulation.orch.io/run-for': '0s',
      'simulation.orch.io/exit-code': '3',
      'simulation.orch.io/logs': 'lost database',
    }
    await run('of-script', { ...policy }, { annotations })
    expect(await messageOf('of-script')).toMatchObject({ terminated: { message: 'lost database\n' } })
  })

  test('sleeps by the clock of the server, and is started again as its policy says', async () => {
    await run('sleeper', { command: ['sh', '-c', 'echo begin; sleep 60; echo end; exit 1'] }, { restartPolicy: 'OnFailure' })
    expect([(await statusOf('sleeper')).phase, await logOf('sleeper')]).toEqual(['Running', 'begin\n'])
    await clock.advance('61s')
    const [status] = (await statusOf('sleeper')).containerStatuses ?? []
    expect(status).toMatchObject({ restartCount: 1, state: { running: {} }, lastState: { terminated: { exitCode: 1 } } })
    // Each restart of an hour would be simulated.
    await server.client.objects.delete({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'sleeper' })
    await run('endless', { command: ['sleep', 'infinity'] })
    await clock.advance('1h')
    expect((await statusOf('endless')).phase).toBe('Running')
  })

  test('stops at once when its Pod is deleted', async () => {
    await run('deleted', { command: ['sleep', '3600'] })
    await server.client.objects.delete({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'deleted' })
    await server.settled({ within: 60_000 })
    await expect(statusOf('deleted')).rejects.toThrow('not found')
    await run('slow', { command: ['sleep', '3600'] }, { annotations: { 'simulation.orch.io/shutdown': '10s' } })
    await server.client.objects.delete({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'slow' })
    await clock.advance('9s')
    expect((await statusOf('slow')).containerStatuses?.[0]?.state).toMatchObject({ running: {} })
    await clock.advance('2s')
    await expect(statusOf('slow')).rejects.toThrow('not found')
  })

  test.each([
    ['another program', ['sh', '-c', 'echo one; nosuch']],
    ['a file of the image', ['cat', '/etc/config']],
    ['another program in a loop', ['sh', '-c', 'until nosuch; do sleep 1; done']],
    ['the output of another program', ['sh', '-c', 'echo "$(nosuch) one"']],
    ['a file of the image as its input', ['sh', '-c', 'read < /etc/config']],
    ['parameters of the shell', ['sh', '-c', 'echo $1', 'sh', 'one']],
    ['options of the shell', ['sh', '-ec', 'false; echo one']],
    ['a format of a date', ['date', '+%s']],
    ['escapes of echo', ['echo', '-e', 'one']],
    ['another environment', ['env', 'A=1', 'sleep', '1']],
    ['a program that only a shell has', ['exit', '1']],
  ])('is simulated like any other if the command needs %s', async (title, command) => {
    const name = title.replaceAll(' ', '-')
    await run(name, { command })
    expect([(await statusOf(name)).phase, await logOf(name)]).toEqual(['Running', 'main: started, simulated from image busybox\n'])
  })

  test('follows an annotation or a script instead', async () => {
    await run('annotated', { command: ['false'] }, { annotations: { 'simulation.orch.io/run-for': '5s' } })
    await clock.advance('10s')
    expect((await statusOf('annotated')).phase).toBe('Succeeded')
    using _script = server.nodes.script({ name: 'scripted' }, (c) => c.onStart((it) => it.exit(0, 'by the script')))
    await run('scripted', { command: ['false'] })
    expect((await statusOf('scripted')).containerStatuses?.[0]?.state).toMatchObject({
      terminated: { exitCode: 0, message: 'by the script' },
    })
  })

  test('is not run if it reads an input', async () => {
    await run('interactive', { command: ['echo', 'one'], stdin: true })
    expect((await statusOf('interactive')).phase).toBe('Running')
  })

  test('holds an automatic clock in an init container, and does not in a sidecar', async () => {
    const auto = virtualClock({ start: new Date('2030-01-01T00:00:00Z'), auto: true })
    await using other = await start({ profile: 'kubernetes', nodes: 1, clock: auto, controllers: ['namespace'] })
    await other.client.objects.create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'both', namespace } },
      spec: {
        nodeName: 'node-1',
        initContainers: [
          { name: 'side', image: 'busybox', command: ['sleep', '3600'], restartPolicy: 'Always' },
          { name: 'init', image: 'busybox', command: ['sleep', '5'] },
        ],
        containers: [{ name: 'main', image: 'busybox' }],
      },
    } as ApiObject)
    await other.settled({ within: 60_000 })
    const { status } = await other.client.objects.get<Pod>({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'both' })
    expect([status.phase, auto.now()]).toEqual(['Running', Date.parse('2030-01-01T00:00:05Z')])
  })

  test('counts in a Job', async () => {
    await server.client.objects.create({
      ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace } },
      spec: {
        backoffLimit: 0,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['false'] }] } },
      },
    } as ApiObject)
    await clock.advance('10s')
    const { status } = await server.client.objects.get<ApiObject & { status: object }>({
      apiVersion: 'batch/v1',
      kind: 'Job',
      namespace,
      name: 'j',
    })
    expect(status).toMatchObject({
      failed: 1,
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Failed', status: 'True' })]),
    })
  })
})
