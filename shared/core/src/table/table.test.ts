import { describe, expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { allKinds } from '../catalogue/kinds/index.ts'
import { existsAt, oldestLevel } from '../description/levels.ts'
import { namesOf } from '../names.ts'
import type { Data } from './cell.ts'
import { parseIncludeObject } from './include-object.ts'
import type { Column } from './kind-table.ts'
import { printTable, printTableFront, printTableRow, type RowObject, tableBack } from './print.ts'
import { createTablePrinter, tablePrinterOf } from './printer.ts'
import { scaleTable } from './scale-table.ts'

const names = namesOf('orch')
const nowMs = Date.parse('2026-01-02T00:00:00Z')
const encoder = new TextEncoder()
const kinds = [...new Set(createCatalogue('orch').resources.map(({ kind }) => kind)), 'Scale']

const tableNamed = (kind: string) => (kind === 'Scale' ? scaleTable : allKinds.find((definition) => definition.kind === kind)?.table)

const columnsAt = (kind: string, level: number) =>
  (tableNamed(kind)?.columns ?? [])
    .map((column): Column => (typeof column === 'string' ? { name: column } : column))
    .filter((column) => existsAt(column, level))

/** An object's cells as clients see them. */
function cellsOf(kind: string, object: Data): unknown[] {
  return printed(kind, object, { kind: 'none' }).cells
}

function printed(kind: string, object: Data, rowObject: RowObject): { cells: unknown[]; conditions?: unknown[]; object: unknown } {
  const row = tablePrinterOf(tableNamed(kind)).read(object, names)
  const bytes = printTableRow(names, row, { version: 'v1', nowMs, object: rowObject })
  return JSON.parse(new TextDecoder().decode(bytes)) as ReturnType<typeof printed>
}

function parse(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes))
}

const metadata = { name: 'a', creationTimestamp: '2026-01-01T23:59:55Z' }

test.each(['PersistentVolumeClaim', 'PersistentVolume'])('the class of attributes of a %s may be empty', (kind) => {
  const cellsOfSpec = (spec: Data) => tablePrinterOf(tableNamed(kind), 37).read({ metadata, spec }, names).cells
  const place = cellsOfSpec({ volumeAttributesClassName: 'gold' }).indexOf('gold')
  expect([cellsOfSpec({ volumeAttributesClassName: '' })[place], cellsOfSpec({})[place]]).toEqual(['', '<unset>'])
})

test('TODAY-JOB-10, TODAY-CRON-01: a column of a later level is absent before it, with its cells', () => {
  const shown = (kind: string, level: number): unknown[] => {
    const printer = tablePrinterOf(tableNamed(kind), level)
    const columns = (JSON.parse(printer.columnsJson) as { name: string }[]).map(({ name }) => name)
    const { cells } = printer.read({ metadata: { name: 'a' }, spec: { schedule: '@daily', timeZone: 'UTC' } }, names)
    return columns.slice(0, 3).map((name, index) => `${name}=${String(cells[index])}`)
  }
  expect(shown('Job', 29)).toEqual(['Name=a', 'Completions=0/1', 'Duration='])
  expect(shown('Job', 30)).toEqual(['Name=a', 'Status=Running', 'Completions=0/1'])
  expect(shown('CronJob', 30)).toEqual(['Name=a', 'Schedule=@daily', 'Timezone=UTC'])
})

test('the name of the default IngressClass is marked from 1.35 on', () => {
  const annotations = { 'ingressclass.orch.io/is-default-class': 'true' }
  const nameAt = (level: number) =>
    tablePrinterOf(tableNamed('IngressClass'), level).read({ metadata: { ...metadata, annotations } }, names).cells[0]
  expect([nameAt(34), nameAt(35)]).toEqual(['a', 'a (default)'])
})

test('CRD-09: from 1.37 on the table of definitions has scope, served versions, group, kind, short names and the establishment', () => {
  const definition = {
    metadata,
    spec: {
      ...{ group: 'g.io', scope: 'Cluster', names: { kind: 'Thing', shortNames: ['t', 'th'] } },
      versions: [{ name: 'v2', served: true, storage: true }, { name: 'v1', served: true }, { name: 'v0' }],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  }
  const cellsAt = (level: number) => tablePrinterOf(tableNamed('CustomResourceDefinition'), level).read(definition, names).cells
  expect(cellsAt(36)).toEqual(['a', metadata.creationTimestamp])
  const wide = ['g.io', 'Thing', 't,th', true]
  expect(cellsAt(37)).toEqual(['a', 'Cluster', 'v1,v2(storage)', metadata.creationTimestamp, ...wide])
})

describe('columns', () => {
  test.each(kinds)('TABLE-03, TABLE-07: of %s are complete, and have a cell for an empty object', (kind) => {
    const columns = JSON.parse(tablePrinterOf(tableNamed(kind)).columnsJson) as Record<string, unknown>[]
    for (const column of columns) {
      expect(Object.keys(column)).toEqual(['name', 'type', 'format', 'description', 'priority'])
      expect(column['description']).not.toBe('')
      expect(['string', 'integer', 'number', 'boolean', 'date']).toContain(column['type'])
    }
    expect(columns.map(({ name }) => name)).toEqual(
      tableNamed(kind) === undefined ? ['Name', 'Created At'] : columnsAt(kind, oldestLevel).map(({ name }) => name),
    )
    expect(cellsOf(kind, {})).toHaveLength(columns.length)
    expect(cellsOf(kind, { metadata, spec: null, status: null })).toHaveLength(columns.length)
  })

  test.each(kinds)('TABLE-07: of %s have cells of their types', (kind) => {
    const cells = cellsOf(kind, { metadata })
    const wrong = columnsAt(kind, oldestLevel).filter(({ type }, index) => {
      if (type === 'integer') return typeof cells[index] !== 'number'
      // The `suspend` of a CronJob has three states, printed as words.
      return type === 'boolean' && kind !== 'CronJob' && typeof cells[index] !== 'boolean'
    })
    expect(wrong).toEqual([])
  })

  test('TABLE-04, TABLE-05: are name and creation time for a kind without columns', () => {
    const columns = JSON.parse(tablePrinterOf(tableNamed('LimitRange')).columnsJson) as unknown[]
    expect(columns).toMatchObject([
      { name: 'Name', type: 'string', format: 'name', priority: 0 },
      { name: 'Created At', type: 'date', format: '', priority: 0 },
    ])
    expect(cellsOf('LimitRange', { metadata })).toEqual(['a', '2026-01-01T23:59:55Z'])
    expect(cellsOf('LimitRange', {})).toEqual(['', null])
  })

  test('TABLE-07: of the wide view have a priority', () => {
    const columns = JSON.parse(tablePrinterOf(tableNamed('Pod')).columnsJson) as { name: string; priority: number }[]
    const wide = columns.filter(({ priority }) => priority > 0).map(({ name }) => name)
    expect(wide).toEqual(['IP', 'Node', 'Nominated Node', 'Readiness Gates'])
  })

  test('of a custom kind come from its definition', () => {
    const printer = createTablePrinter([{ name: 'Size', type: 'integer', description: 'How large it is.' }], (object) => [
      object['size'] as number,
    ])
    expect(printer.columnsJson).toBe('[{"name":"Size","type":"integer","format":"","description":"How large it is.","priority":0}]')
    expect(printer.read({ size: 3 }, names)).toEqual({ cells: [3], conditions: [] })
  })
})

describe('a table', () => {
  const printer = tablePrinterOf(tableNamed('Namespace'))
  const namespace = { metadata, status: { phase: 'Active' } }
  const row = (object: RowObject, version: 'v1' | 'v1beta1' = 'v1'): Uint8Array =>
    printTableRow(names, printer.read(namespace, names), { version, nowMs, object })

  test('TABLE-01, TABLE-02, TABLE-06: contains a list', () => {
    const list = { resourceVersion: '7', continue: 'next', remainingItemCount: 1 }
    const table = printTable(names, { version: 'v1', metadata: list, printer }, [row({ kind: 'none' }), row({ kind: 'none' })])
    expect(parse(table)).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.orch.io/v1',
      metadata: list,
      rows: [
        { cells: ['a', 'Active', '5s'], object: null },
        { cells: ['a', 'Active', '5s'], object: null },
      ],
    })
    expect(Object.keys(parse(table) as object)).toEqual(['kind', 'apiVersion', 'metadata', 'columnDefinitions', 'rows'])
  })

  test('TABLE-02: has the requested version, also in its rows', () => {
    const bytes = encoder.encode(JSON.stringify(metadata))
    const table = printTable(names, { version: 'v1beta1', metadata: {}, printer }, [row({ kind: 'metadata', metadata: bytes }, 'v1beta1')])
    const apiVersion = 'meta.orch.io/v1beta1'
    expect(parse(table)).toMatchObject({
      apiVersion,
      metadata: {},
      rows: [{ object: { kind: 'PartialObjectMetadata', apiVersion, metadata } }],
    })
  })

  test('TABLE-02: has the group of the profile', () => {
    const front = { version: 'v1', metadata: { resourceVersion: '1', continue: '' }, printer: undefined } as const
    const text = '{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":null,"rows":['
    expect(printTableFront(namesOf('kubernetes'), front) + tableBack).toBe(`${text}]}`)
  })

  test('TABLE-06: contains the bytes of objects unchanged', () => {
    const json = encoder.encode('{"kind":"Namespace","metadata":{"name":"ä"}}')
    expect(parse(row({ kind: 'object', json }))).toEqual({
      cells: ['a', 'Active', '5s'],
      object: { kind: 'Namespace', metadata: { name: 'ä' } },
    })
  })

  test('TABLE-06: keeps text of any script and quotes', () => {
    const message = '"quoted"\n漢字 😀'
    const cells = cellsOf('Event', { message, metadata })
    expect(cells[6]).toBe(message)
    const json = encoder.encode('{}')
    expect(printed('Event', { message }, { kind: 'object', json }).cells[6]).toBe(message)
  })

  test.each([
    [undefined, 'Metadata'],
    [null, 'Metadata'],
    ['', 'Metadata'],
    ['Metadata', 'Metadata'],
    ['Object', 'Object'],
    ['None', 'None'],
  ])('TABLE-06: with includeObject %s has %s', (text, include) => {
    expect(parseIncludeObject(text)).toEqual({ kind: 'include', include })
  })

  test('TABLE-06: refuses any other includeObject', () => {
    expect(parseIncludeObject('Foo')).toEqual({
      kind: 'malformed',
      message: `Unable to convert to Table as requested: includeObject: Invalid value: "Foo": must be 'Metadata', 'Object', 'None', or empty`,
    })
  })
})

describe('pods', () => {
  const running = { ready: true, restartCount: 0, state: { running: {} } }
  const waiting = (reason: string): Data => ({ restartCount: 0, state: { waiting: { reason } } })
  const ended = (terminated: Data): Data => ({ restartCount: 0, state: { terminated } })
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] }
  const inits = { initContainers: [{}, {}], containers: [{}] }
  const withSidecar = { initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }], containers: [{}] }
  const sidecar = (isReady: boolean): Data => ({ name: 's', started: true, ready: isReady, restartCount: 0, state: { running: {} } })

  const cases: readonly (readonly [string, { metadata?: Data; spec?: Data; status: Data }, string, string])[] = [
    ['is new', { status: { phase: 'Pending' } }, '0/1', 'Pending'],
    ['has a reason of its own', { status: { phase: 'Failed', reason: 'Evicted' } }, '0/1', 'Evicted'],
    ['runs', { status: { phase: 'Running', containerStatuses: [running] } }, '1/1', 'Running'],
    ['waits', { status: { phase: 'Pending', containerStatuses: [waiting('ImagePullBackOff')] } }, '0/1', 'ImagePullBackOff'],
    [
      'crashed with a reason',
      { status: { phase: 'Running', containerStatuses: [ended({ reason: 'Error', exitCode: 1 })] } },
      '0/1',
      'Error',
    ],
    [
      'crashed with a signal',
      { status: { phase: 'Running', containerStatuses: [ended({ signal: 9, exitCode: 137 })] } },
      '0/1',
      'Signal:9',
    ],
    ['crashed with a code', { status: { phase: 'Running', containerStatuses: [ended({ exitCode: 3 })] } }, '0/1', 'ExitCode:3'],
    [
      'has one container that is done and one that runs',
      { status: { phase: 'Running', ...ready, containerStatuses: [ended({ reason: 'Completed', exitCode: 0 }), running] } },
      '1/1',
      'Running',
    ],
    [
      'has one that is done, one that runs, and is not ready',
      { status: { phase: 'Running', containerStatuses: [ended({ reason: 'Completed', exitCode: 0 }), running] } },
      '1/1',
      'NotReady',
    ],
    [
      'starts its first init container',
      { spec: inits, status: { phase: 'Pending', initContainerStatuses: [waiting('PodInitializing')] } },
      '0/1',
      'Init:0/2',
    ],
    [
      'runs its second init container',
      { spec: inits, status: { phase: 'Pending', initContainerStatuses: [ended({ exitCode: 0 }), running] } },
      '0/1',
      'Init:1/2',
    ],
    [
      'waits in an init container',
      { spec: inits, status: { initContainerStatuses: [waiting('CrashLoopBackOff')] } },
      '0/1',
      'Init:CrashLoopBackOff',
    ],
    [
      'failed in an init container',
      { spec: inits, status: { initContainerStatuses: [ended({ exitCode: 1, reason: 'Error' })] } },
      '0/1',
      'Init:Error',
    ],
    [
      'failed in an init container by signal',
      { spec: inits, status: { initContainerStatuses: [ended({ exitCode: 1, signal: 6 })] } },
      '0/1',
      'Init:Signal:6',
    ],
    [
      'failed in an init container by code',
      { spec: inits, status: { initContainerStatuses: [ended({ exitCode: 7 })] } },
      '0/1',
      'Init:ExitCode:7',
    ],
    [
      'has a sidecar that has started and is ready',
      { spec: withSidecar, status: { phase: 'Running', initContainerStatuses: [sidecar(true)], containerStatuses: [running] } },
      '2/2',
      'Running',
    ],
    [
      'has a sidecar that is not ready, and waits in the next init container',
      { spec: withSidecar, status: { phase: 'Pending', initContainerStatuses: [sidecar(false), waiting('CrashLoopBackOff')] } },
      '0/2',
      'Init:CrashLoopBackOff',
    ],
    [
      'has a sidecar that has stopped after the start of the others',
      {
        spec: withSidecar,
        status: {
          phase: 'Running',
          conditions: [{ type: 'Initialized', status: 'True' }],
          initContainerStatuses: [{ name: 's', started: false, ...waiting('CrashLoopBackOff') }],
          containerStatuses: [running],
        },
      },
      '1/2',
      'Init:CrashLoopBackOff',
    ],
    [
      'is held back by gates',
      { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] } },
      '0/1',
      'SchedulingGated',
    ],
    [
      'is deleted',
      { metadata: { deletionTimestamp: metadata.creationTimestamp }, status: { phase: 'Running', containerStatuses: [running] } },
      '1/1',
      'Terminating',
    ],
    [
      'is deleted on a lost node',
      { metadata: { deletionTimestamp: metadata.creationTimestamp }, status: { reason: 'NodeLost' } },
      '0/1',
      'Unknown',
    ],
  ]

  test.each(cases)('TABLE-06: show one that %s', (_, { metadata: more = {}, spec = { containers: [{}] }, status }, readyText, text) => {
    expect(cellsOf('Pod', { metadata: { ...metadata, ...more }, spec, status }).slice(1, 3)).toEqual([readyText, text])
  })

  test('TABLE-06: show restarts of the relevant containers, with the age of the last restart', () => {
    const finishedAt = '2026-01-01T23:55:00Z'
    const restarted = { ...running, restartCount: 2, lastState: { terminated: { finishedAt } } }
    const status = {
      initContainerStatuses: [{ ...ended({ exitCode: 0 }), restartCount: 5 }],
      containerStatuses: [restarted, { ...running, restartCount: 1 }],
    }
    expect(cellsOf('Pod', { status })[3]).toBe('3 (5m ago)')
    expect(cellsOf('Pod', { status: { initContainerStatuses: [{ ...waiting('x'), restartCount: 5 }] } })[3]).toBe('5')
  })

  const minutesAgo = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString()
  const endedBefore = (minutes: number, restartCount = 1): Data => ({
    ...running,
    restartCount,
    lastState: { terminated: { finishedAt: minutesAgo(minutes) } },
  })
  const restartCases: readonly (readonly [string, Data, string])[] = [
    ['of the last restart, which is of the first container', { containerStatuses: [endedBefore(5), endedBefore(90)] }, '2 (5m ago)'],
    ['of the last restart, which is of the last container', { containerStatuses: [endedBefore(90), endedBefore(5)] }, '2 (5m ago)'],
    ['beside containers that never ended', { containerStatuses: [running, endedBefore(7, 3), running] }, '3 (7m ago)'],
    [
      'while containers are initialized',
      { initContainerStatuses: [{ ...endedBefore(4, 6), ...waiting('x'), restartCount: 6 }] },
      '6 (4m ago)',
    ],
    [
      'of an init container that ended later than the others, whose restarts no longer count',
      { initContainerStatuses: [{ ...endedBefore(3, 6), ...ended({ exitCode: 0 }) }], containerStatuses: [endedBefore(20, 2)] },
      '2 (3m ago)',
    ],
    ['of an end whose time is unknown: none', { containerStatuses: [{ ...running, restartCount: 2, lastState: { terminated: {} } }] }, '2'],
    ['where nothing has ended: none', { containerStatuses: [{ ...running, restartCount: 2, lastState: {} }] }, '2'],
    ['that is in days', { containerStatuses: [endedBefore(60 * 24 * 12)] }, '1 (12d ago)'],
  ]
  test.each(restartCases)('TABLE-06: show the age of restarts: %s', (_when, status, expected) => {
    expect(cellsOf('Pod', { status })[3]).toBe(expected)
  })

  test('TABLE-06: have wide cells', () => {
    const readinessGates = [{ conditionType: 'a' }, { conditionType: 'b' }]
    const status = { podIPs: [{ ip: '10.0.0.1' }], nominatedNodeName: 'm', conditions: [{ type: 'b', status: 'True' }] }
    expect(cellsOf('Pod', { metadata, spec: { nodeName: 'n', readinessGates }, status }).slice(4)).toEqual([
      '5s',
      '10.0.0.1',
      'n',
      'm',
      '1/2',
    ])
    expect(cellsOf('Pod', {}).slice(4)).toEqual(['<unknown>', '<none>', '<none>', '<none>', '<none>'])
  })

  test.each(['Succeeded', 'Failed'])('TABLE-06: with %s show it in their row', (phase) => {
    const { conditions } = printed('Pod', { status: { phase } }, { kind: 'none' })
    expect(conditions).toEqual([{ type: 'Completed', status: 'True', reason: phase, message: expect.any(String) }])
    expect(printed('Pod', { status: { phase: 'Running' } }, { kind: 'none' }).conditions).toBeUndefined()
  })
})

describe('cells', () => {
  const template = {
    spec: {
      containers: [
        { name: 'c', image: 'i:1' },
        { name: 'd', image: 'j' },
      ],
      nodeSelector: { disk: 'ssd' },
    },
  }
  const selector = { matchLabels: { b: '1', a: '2' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] }

  const cases: readonly (readonly [string, Data, readonly unknown[]])[] = [
    ['PodTemplate', { template: { ...template, metadata: { labels: { b: '1', a: '2' } } } }, ['a', 'c,d', 'i:1,j', 'a=2,b=1']],
    ['PodDisruptionBudget', { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 2 } }, ['a', '50%', 'N/A', 2, '5s']],
    [
      'ReplicationController',
      { spec: { replicas: 3, selector: { x: 'y' }, template }, status: { replicas: 2, readyReplicas: 1 } },
      ['a', 3, 2, 1, '5s', 'c,d', 'i:1,j', 'x=y'],
    ],
    [
      'ReplicaSet',
      { spec: { replicas: 3, selector, template }, status: { replicas: 2 } },
      ['a', 3, 2, 0, '5s', 'c,d', 'i:1,j', 'a=2,b=1,c'],
    ],
    [
      'DaemonSet',
      {
        spec: { selector, template },
        status: { desiredNumberScheduled: 4, currentNumberScheduled: 3, numberReady: 2, updatedNumberScheduled: 1, numberAvailable: 0 },
      },
      ['a', 4, 3, 2, 1, 0, 'disk=ssd', '5s', 'c,d', 'i:1,j', 'a=2,b=1,c'],
    ],
    [
      'Job',
      { spec: { completions: 5, template }, status: { succeeded: 1, startTime: '2026-01-01T23:00:00Z' } },
      ['a', '1/5', '60m', '5s', 'c,d', 'i:1,j', '<none>'],
    ],
    [
      'Job',
      { spec: { parallelism: 3 }, status: { startTime: '2026-01-01T23:00:00Z', completionTime: '2026-01-01T23:00:09Z' } },
      ['a', '0/1 of 3', '9s', '5s', '', '', '<none>'],
    ],
    ['Job', { spec: { parallelism: 1 } }, ['a', '0/1', '', '5s', '', '', '<none>']],
    [
      'CronJob',
      {
        spec: { schedule: '* * * * *', suspend: false, jobTemplate: { spec: { template } } },
        status: { active: [{}], lastScheduleTime: '2026-01-01T22:00:00Z' },
      },
      ['a', '* * * * *', 'False', 1, '120m', '5s', 'c,d', 'i:1,j', '<none>'],
    ],
    ['CronJob', { spec: { schedule: '@daily' } }, ['a', '@daily', '<unset>', 0, '<none>', '5s', '', '', '<none>']],
    ['StatefulSet', { spec: { replicas: 3, template }, status: { readyReplicas: 1 } }, ['a', '1/3', '5s', 'c,d', 'i:1,j']],
    [
      'Deployment',
      { spec: { replicas: 3, template, selector: {} }, status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 } },
      ['a', '2/3', 3, 1, '5s', 'c,d', 'i:1,j', ''],
    ],
    [
      'Deployment',
      { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } } },
      ['a', '0/0', 0, 0, '5s', '', '', '<invalid>'],
    ],
    [
      'ControllerRevision',
      {
        metadata: { ...metadata, ownerReferences: [{ controller: true, kind: 'StatefulSet', apiVersion: 'apps/v1', name: 'w' }] },
        revision: 4,
      },
      ['a', 'statefulset.apps/w', 4, '5s'],
    ],
    [
      'ControllerRevision',
      { metadata: { ...metadata, ownerReferences: [{ controller: true, kind: 'Pod', apiVersion: 'v1', name: 'w' }] }, revision: 4 },
      ['a', 'pod/w', 4, '5s'],
    ],
    ['Scale', { spec: { replicas: 3 }, status: { replicas: 1 } }, ['a', 3, 1, '5s']],
    [
      'Service',
      {
        spec: {
          type: 'ClusterIP',
          clusterIPs: ['10.0.0.1'],
          ports: [
            { port: 80, protocol: 'TCP' },
            { port: 53, nodePort: 30053, protocol: 'UDP' },
          ],
          selector: { a: 'b' },
        },
      },
      ['a', 'ClusterIP', '10.0.0.1', '<none>', '80/TCP,53:30053/UDP', '5s', 'a=b'],
    ],
    ['Service', { spec: { type: 'LoadBalancer' } }, ['a', 'LoadBalancer', '<none>', '<pending>', '<none>', '5s', '<none>']],
    [
      'Service',
      {
        spec: { type: 'LoadBalancer', externalIPs: ['9.9.9.9'] },
        status: { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '1.1.1.1' }, { ip: '1.1.1.1' }] } },
      },
      ['a', 'LoadBalancer', '<none>', '1.1.1.1,h,9.9.9.9', '<none>', '5s', '<none>'],
    ],
    [
      'Service',
      { spec: { type: 'ExternalName', externalName: 'x.example' } },
      ['a', 'ExternalName', '<none>', 'x.example', '<none>', '5s', '<none>'],
    ],
    [
      'Ingress',
      {
        spec: { ingressClassName: 'c', rules: [{ host: 'w' }, { host: 'x' }, { host: 'y' }, { host: 'z' }], tls: [{}] },
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } },
      },
      ['a', 'c', 'w,x,y + 1 more...', '1.1.1.1', '80, 443', '5s'],
    ],
    ['Ingress', { spec: { rules: [{}] } }, ['a', '<none>', '*', '', '80', '5s']],
    [
      'IngressClass',
      { spec: { controller: 'x.example/c', parameters: { apiGroup: 'g.example', kind: 'P', name: 'n' } } },
      ['a', 'x.example/c', 'P.g.example/n', '5s'],
    ],
    [
      'Endpoints',
      { subsets: [{ addresses: [{ ip: '1.1.1.1' }, { ip: '::1' }], ports: [{ port: 80 }, { port: 81 }] }] },
      ['a', '1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...', '5s'],
    ],
    ['Endpoints', { subsets: [{ addresses: [{ ip: '1.1.1.1' }] }] }, ['a', '1.1.1.1', '5s']],
    [
      'EndpointSlice',
      { addressType: 'IPv4', ports: [{ port: 80 }, { name: 'n' }, {}], endpoints: [{ addresses: ['1', '2'] }, { addresses: ['3', '4'] }] },
      ['a', 'IPv4', '80,n,*', '1,2,3 + 1 more...', '5s'],
    ],
    ['NetworkPolicy', { spec: { podSelector: selector } }, ['a', 'a=2,b=1,c', '5s']],
    [
      'ClusterCIDR',
      {
        spec: {
          perNodeHostBits: 8,
          ipv4: '10.0.0.0/8',
          nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }] }] },
        },
      },
      ['a', '8', '10.0.0.0/8', '<none>', '5s', '[{k In [x y]}]'],
    ],
    [
      'Node',
      {
        metadata: { ...metadata, labels: { 'node-role.orch.io/worker': '', 'node-role.orch.io/control': '', 'orch.io/role': 'edge' } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          nodeInfo: { kubeletVersion: 'v1', osImage: 'os' },
        },
      },
      ['a', 'Ready,SchedulingDisabled', 'control,edge,worker', '5s', 'v1', '10.0.0.1', '<none>', 'os', '<unknown>', '<unknown>'],
    ],
    [
      'Node',
      { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } },
      ['a', 'NotReady', '<none>', '5s', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
    ],
    [
      'Event',
      {
        type: 'Normal',
        reason: 'R',
        message: ' m\n',
        involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'f' },
        source: { component: 'c', host: 'h' },
        firstTimestamp: '2026-01-01T23:00:00Z',
        lastTimestamp: '2026-01-01T23:30:00Z',
        count: 3,
      },
      ['30m', 'Normal', 'R', 'pod/p', 'f', 'c, h', 'm', '60m', 3, 'a'],
    ],
    [
      'Event',
      {
        reportingComponent: 'c',
        involvedObject: { kind: 'Pod' },
        eventTime: '2026-01-01T23:59:00.000000Z',
        series: { count: 8, lastObservedTime: '2026-01-01T23:59:59.000000Z' },
      },
      ['1s', '', '', 'pod', '', 'c', '', '60s', 8, 'a'],
    ],
    ['Secret', { type: 'Opaque', data: { a: '', b: '' } }, ['a', 'Opaque', 2, '5s']],
    ['ConfigMap', { data: { a: '' }, binaryData: { b: '' } }, ['a', 2, '5s']],
    ['ServiceAccount', { secrets: [{}] }, ['a', 1, '5s']],
    ['ComponentStatus', { conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] }, ['a', 'Unhealthy', 'm', 'e']],
    ['Lease', { spec: { holderIdentity: 'h' } }, ['a', 'h', '5s']],
    [
      'ResourceQuota',
      { status: { hard: { pods: '4', 'limits.cpu': '2', cpu: '1' }, used: { pods: '1' } } },
      ['a', '5s', 'cpu: 0/1, pods: 1/4', 'limits.cpu: 0/2'],
    ],
    ['PriorityClass', { value: 10, globalDefault: true }, ['a', 10, true, '5s']],
    ['RuntimeClass', { handler: 'h' }, ['a', 'h', '5s']],
    ['StorageVersion', { status: { storageVersions: [{ apiServerID: 's', encodingVersion: 'v1' }] } }, ['a', '<unset>', 's=v1', '5s']],
    [
      'APIService',
      {
        spec: { service: { namespace: 'n', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'Gone' }] },
      },
      ['a', 'n/s', 'False (Gone)', '5s'],
    ],
    [
      'APIService',
      { spec: {}, status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] } },
      ['a', 'Local', 'True', '5s'],
    ],
    [
      'RoleBinding',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'Group', name: 'g' },
          { kind: 'User', name: 'v' },
          { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        ],
      },
      ['a', 'Role/r', '5s', 'u, v', 'g', 'n/s'],
    ],
    [
      'CertificateSigningRequest',
      {
        spec: { signerName: 's', username: 'u', expirationSeconds: 3600 },
        status: { certificate: 'Yw==', conditions: [{ type: 'Approved' }] },
      },
      ['a', '5s', 's', 'u', '60m', 'Approved,Issued'],
    ],
    [
      'CertificateSigningRequest',
      { spec: {}, status: { conditions: [{ type: 'Approved' }, { type: 'Denied' }, { type: 'Failed' }] } },
      ['a', '5s', '<none>', '', '<none>', 'Denied,Failed'],
    ],
    [
      'PersistentVolume',
      {
        metadata: { ...metadata, annotations: { 'volume.beta.orch.io/storage-class': 'old' } },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'n', name: 'c' },
          storageClassName: 'new',
          volumeMode: 'Block',
        },
        status: { phase: 'Bound' },
      },
      ['a', '1Gi', 'RWO,RWX', 'Retain', 'Bound', 'n/c', 'old', '', '5s', 'Block'],
    ],
    [
      'PersistentVolumeClaim',
      {
        spec: { volumeName: 'v', storageClassName: 's' },
        status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOncePod'] },
      },
      ['a', 'Bound', 'v', '1Gi', 'RWOP', 's', '5s', '<unset>'],
    ],
    [
      'PersistentVolumeClaim',
      { metadata: { ...metadata, deletionTimestamp: 'x' }, status: { phase: 'Pending', capacity: { storage: '1Gi' } } },
      ['a', 'Terminating', '', '', '', '', '5s', '<unset>'],
    ],
    [
      'StorageClass',
      { metadata: { ...metadata, annotations: { 'storageclass.orch.io/is-default-class': 'true' } }, provisioner: 'p' },
      ['a (default)', 'p', 'Delete', 'Immediate', false, '5s'],
    ],
    [
      'VolumeAttachment',
      { spec: { attacher: 'x', nodeName: 'n', source: { persistentVolumeName: 'v' } }, status: { attached: true } },
      ['a', 'x', 'v', 'n', true, '5s'],
    ],
    ['CSINode', { spec: { drivers: [{}, {}] } }, ['a', 2, '5s']],
    [
      'StorageVersionMigration',
      {
        spec: { resource: { group: 'apps', resource: 'deployments' } },
        status: { conditions: ['Running', 'Succeeded', 'Other'].map((type) => ({ type, status: type === 'Running' ? 'False' : 'True' })) },
      },
      ['a', 'deployments.apps', 'Succeeded'],
    ],
    ['StorageVersionMigration', { spec: { resource: { resource: 'secrets' } } }, ['a', 'secrets', 'Unknown']],
    [
      'CSIDriver',
      {
        spec: {
          attachRequired: false,
          tokenRequests: [{ audience: 'x' }, { audience: 'y' }],
          volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        },
      },
      ['a', false, false, false, 'x,y', false, 'Persistent,Ephemeral', '5s'],
    ],
    ['ValidatingWebhookConfiguration', { webhooks: [{}, {}] }, ['a', 2, '5s']],
    [
      'FlowSchema',
      {
        spec: { priorityLevelConfiguration: { name: 'p' }, matchingPrecedence: 100, distinguisherMethod: { type: 'ByUser' } },
        status: { conditions: [{ type: 'Dangling', status: 'False' }] },
      },
      ['a', 'p', 100, 'ByUser', '5s', 'False'],
    ],
    [
      'PriorityLevelConfiguration',
      {
        spec: {
          type: 'Limited',
          limited: { assuredConcurrencyShares: 5, limitResponse: { queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } } },
        },
      },
      ['a', 'Limited', 5, 64, 6, 50, '5s'],
    ],
    ['PriorityLevelConfiguration', { spec: { type: 'Exempt' } }, ['a', 'Exempt', '<none>', '<none>', '<none>', '<none>', '5s']],
  ]

  test.each(cases)('TABLE-06: show a %s: %j', (kind, object, cells) => {
    expect(cellsOf(kind, { metadata, ...object })).toEqual(cells)
  })

  const target = (value: Data): Data => ({ target: value })
  const metrics: readonly (readonly [string, readonly Data[], readonly Data[], string])[] = [
    ['none', [], [], '<none>'],
    [
      'a share of a resource',
      [{ type: 'Resource', resource: target({ averageUtilization: 80 }) }],
      [{ resource: { current: { averageUtilization: 30 } } }],
      '30%/80%',
    ],
    ['a resource without a reading', [{ type: 'Resource', resource: target({}) }], [], '<unknown>/<auto>'],
    [
      'an amount of a container’s resource',
      [{ type: 'ContainerResource', containerResource: target({ averageValue: '1Gi' }) }],
      [{ containerResource: { current: { averageValue: '2Gi' } } }],
      '2Gi/1Gi',
    ],
    ['pods', [{ type: 'Pods', pods: target({ averageValue: '5' }) }], [{ pods: { current: { averageValue: '4' } } }], '4/5'],
    [
      'an object, by average',
      [{ type: 'Object', object: target({ averageValue: '5' }) }],
      [{ object: { current: { averageValue: '4' } } }],
      '4/5 (avg)',
    ],
    ['something outside, by value', [{ type: 'External', external: target({ value: '5' }) }], [], '<unknown>/5'],
    ['what nobody knows', [{ type: 'Moon' }], [], '<unknown type>'],
    ['three', [{ type: 'Moon' }, { type: 'Moon' }, { type: 'Moon' }], [], '<unknown type>, <unknown type> + 1 more...'],
  ]

  test.each(metrics)('TABLE-06: show an autoscaler with metrics: %s', (_, specs, current, text) => {
    const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, metrics: specs, maxReplicas: 5 }
    const cells = cellsOf('HorizontalPodAutoscaler', { metadata, spec, status: { currentMetrics: current, currentReplicas: 2 } })
    expect(cells).toEqual(['a', 'Deployment/d', text, '<unset>', 5, 2, '5s'])
  })
})
