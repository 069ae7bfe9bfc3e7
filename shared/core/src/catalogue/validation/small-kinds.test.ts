import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

type Row = readonly [title: string, path: string, value: unknown, problems: readonly string[]]

const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
const runtimeClass: Body = {
  metadata: { name: 'a' },
  handler: 'gvisor',
  overhead: { podFixed: { cpu: '1', 'example.com/x': '2' } },
  scheduling: { nodeSelector: { a: 'b' }, tolerations: [toleration] },
}

test('a RuntimeClass with everything set is valid', () => {
  expect(problemsOf('node/v1.RuntimeClass', runtimeClass)).toEqual([])
})

test.each<Row>([
  ['a handler in capitals', 'handler', 'X', [`handler: Invalid value: "X": ${labelRule}`]],
  [
    'an overhead below nothing',
    'overhead',
    { podFixed: { cpu: '-1' } },
    ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    'one toleration twice',
    'scheduling/tolerations',
    [toleration, toleration],
    [
      `scheduling.tolerations[1]: Duplicate value: core.Toleration{Key:"a", Operator:"Exists", Value:"", Effect:"NoExecute", TolerationSeconds:(*int64)(0xc000000000)}`,
    ],
  ],
  [
    'a toleration of everything but something',
    'scheduling/tolerations',
    [{ operator: 'Equal' }],
    [
      'scheduling.tolerations.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
])('a RuntimeClass with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('node/v1.RuntimeClass', withChange(runtimeClass, path, value))).toEqual(problems)
})

test('the handler of a RuntimeClass is immutable', () => {
  expect(problemsOf('node/v1.RuntimeClass', { ...runtimeClass, handler: 'runc' }, { live: runtimeClass })).toEqual([
    'handler: Invalid value: "runc": field is immutable',
  ])
})

const reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error:"

test.each<readonly [string, Body, readonly string[]]>([
  ['as high as a user may', { metadata: { name: 'a' }, value: 1_000_000_000, preemptionPolicy: 'Never', globalDefault: true }, []],
  [
    'higher',
    { metadata: { name: 'a' }, value: 1_000_000_001 },
    ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
  ],
  ['the system', { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }, []],
  [
    'the system, with another value',
    { metadata: { name: 'system-node-critical' }, value: 1 },
    [`${reserved} value of system-node-critical PriorityClass must be 2000001000`],
  ],
  [
    'the system, for all',
    { metadata: { name: 'system-cluster-critical' }, value: 2_000_000_000, globalDefault: true },
    [`${reserved} globalDefault of system-cluster-critical PriorityClass must be false`],
  ],
  ['like the system', { metadata: { name: 'system-x' }, value: 1 }, [`${reserved} system-x is not a known system priority class`]],
  [
    'with a policy',
    { metadata: { name: 'a' }, value: 1, preemptionPolicy: 'Maybe' },
    ['preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"'],
  ],
])('a PriorityClass has the expected errors: %s', (_, body, problems) => {
  expect(problemsOf('scheduling/v1.PriorityClass', body)).toEqual(problems)
})

test('the value and the preemption policy of a PriorityClass are immutable', () => {
  const live = { metadata: { name: 'a' }, value: 1, preemptionPolicy: 'Never' }
  expect(problemsOf('scheduling/v1.PriorityClass', { ...live, value: 2 }, { live })).toEqual([
    'value: Forbidden: may not be changed in an update.',
  ])
  expect(problemsOf('scheduling/v1.PriorityClass', { ...live, preemptionPolicy: undefined }, { live })).toEqual([
    'preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable',
  ])
})

test('a Lease has a positive duration, and a count of transitions that is not negative', () => {
  const lease = (leaseDurationSeconds: number, leaseTransitions: number): Body => ({ spec: { leaseDurationSeconds, leaseTransitions } })
  expect(problemsOf('coordination/v1.Lease', lease(1, 0))).toEqual([])
  expect(problemsOf('coordination/v1.Lease', lease(0, -1))).toEqual([
    'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
  ])
})

test('a Lease has a known strategy, and a preferred holder only with a strategy', () => {
  const lease = (spec: Body) => problemsOf('coordination/v1.Lease', { spec }, { level: 37 })
  expect(lease({ strategy: 'OldestEmulationVersion', preferredHolder: 'a' })).toEqual([])
  expect(lease({ strategy: 'x' })).toEqual(['spec.strategy.strategy: Unsupported value: "x": supported values: "OldestEmulationVersion"'])
  expect(lease({ preferredHolder: 'a' })).toEqual(['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined'])
})

test('a LeaseCandidate names its Lease, semantic versions and a strategy', () => {
  const candidate = (spec: Body, live?: Body) =>
    problemsOf('coordination/v1beta1.LeaseCandidate', { spec }, { level: 37, ...(live === undefined ? {} : { live: { spec: live } }) })
  const valid = { leaseName: 'l', binaryVersion: '1.37.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion' }
  expect(candidate(valid)).toEqual([])
  expect(candidate({})).toEqual(['spec.leaseName: Required value', 'spec.binaryVersion: Required value', 'spec.strategy: Required value'])
  expect(candidate({ ...valid, binaryVersion: '1.37', emulationVersion: 'v1.36.0' })).toEqual([
    'spec.emulationVersion: Invalid value: "v1.36.0": must be a valid semantic version',
    'spec.binaryVersion: Invalid value: "1.37": must be a valid semantic version',
    "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
  ])
  expect(candidate({ ...valid, binaryVersion: '1.35.0' })).toEqual([
    'spec.binaryVersion: Invalid value: "1.35.0": must be greater than or equal to `emulationVersion`',
  ])
  expect(candidate({ ...valid, emulationVersion: undefined })).toEqual([
    "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
  ])
  expect(candidate({ ...valid, strategy: 'x' })).toEqual([
    'spec.strategy.strategy: Unsupported value: "x": supported values: "OldestEmulationVersion"',
  ])
  expect(candidate(valid, { ...valid, leaseName: 'm' })).toEqual(['spec.leaseName: Invalid value: "l": field is immutable'])
})

const limits = (...list: Body[]): Body => ({ metadata: { name: 'a' }, spec: { limits: list } })

test.each<readonly [string, Body[], readonly string[]]>([
  [
    'everything set',
    [
      {
        type: 'Container',
        min: { cpu: '100m' },
        max: { cpu: '2' },
        default: { cpu: '1' },
        defaultRequest: { cpu: '500m' },
        maxLimitRequestRatio: { cpu: '4' },
      },
      { type: 'Pod', max: { memory: '1Gi' } },
      { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
      { type: 'example.com/x', max: { 'example.com/y': '1' } },
    ],
    [],
  ],
  ['one type twice', [{ type: 'Pod' }, { type: 'Pod' }], ['[1].type: Duplicate value: "Pod"']],
  ['a type', [{ type: 'Node' }], ['[0].type: Invalid value: "Node": must be a standard limit type or fully qualified']],
  ['a default for Pods', [{ type: 'Pod', default: { cpu: '1' } }], ["[0].default: Forbidden: may not be specified when `type` is 'Pod'"]],
  [
    'claims of any size',
    [{ type: 'PersistentVolumeClaim' }],
    ['[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided'],
  ],
  [
    'a resource',
    [{ type: 'PersistentVolumeClaim', min: { storage: '1', gold: '1' } }],
    ['[0].min[gold]: Invalid value: "gold": must be a standard resource type or fully qualified'],
  ],
  [
    'a resource of another kind that a container could not ask for',
    [{ type: 'PersistentVolumeClaim', min: { storage: '1', 'requests.example.com/x': '1', 'requests.hugepages-2Mi': '1' } }],
    [],
  ],
  [
    'a default for Pods that is not compared with anything',
    [{ type: 'Pod', default: { cpu: '3' }, max: { cpu: '1' } }],
    ["[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
  ],
  [
    'a resource that containers lack',
    [{ type: 'Pod', max: { storage: '1' } }],
    ['[0].max[storage]: Invalid value: "storage": must be a standard resource for containers'],
  ],
  [
    'no room',
    [{ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } }],
    ['[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
  ],
  [
    'a request above the limit',
    [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '2' } }],
    ['[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1'],
  ],
  [
    'a default above the most',
    [{ type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '1' }, max: { cpu: '1' } }],
    ['[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1'],
  ],
  [
    'a ratio below one',
    [{ type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } }],
    ['[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
  ],
  [
    'a ratio out of reach',
    [{ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }],
    ['[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000'],
  ],
])('a LimitRange with %s has the expected errors', (_, list, problems) => {
  expect(problemsOf('core/v1.LimitRange', limits(...list), { level: 34 })).toEqual(problems.map((problem) => `spec.limits${problem}`))
})

test('the errors of a LimitRange show amounts like Go below 1.34', () => {
  const amount =
    'resource.Quantity{i:resource.int64Amount{value:2, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"2", Format:"DecimalSI"}'
  const range = limits({ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } })
  expect(problemsOf('core/v1.LimitRange', range, { level: 33 })).toEqual([
    `spec.limits[0].min[cpu]: Invalid value: ${amount}: min value 2 is greater than max value 1`,
  ])
})

const driver: Body = {
  metadata: { name: 'd.example.com' },
  spec: {
    attachRequired: false,
    podInfoOnMount: true,
    storageCapacity: true,
    fsGroupPolicy: 'File',
    requiresRepublish: true,
    volumeLifecycleModes: ['Ephemeral'],
    tokenRequests: [{ audience: 'a', expirationSeconds: 600 }, { audience: 'b' }],
  },
}

test('a CSIDriver with everything set, and an empty CSIDriver, are valid', () => {
  expect(problemsOf('storage/v1.CSIDriver', driver)).toEqual([])
  expect(problemsOf('storage/v1.CSIDriver', { metadata: { name: 'a' }, spec: {} })).toEqual([])
})

test.each<Row>([
  ['a long name', 'metadata/name', 'a'.repeat(64), []],
  [
    'a group policy',
    'spec/fsGroupPolicy',
    'All',
    ['spec.fsGroupPolicy: Unsupported value: "All": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
  ],
  [
    'a mode',
    'spec/volumeLifecycleModes',
    ['Now'],
    ['spec.volumeLifecycleModes: Unsupported value: "Now": supported values: "Persistent", "Ephemeral"'],
  ],
  [
    'one audience twice',
    'spec/tokenRequests',
    [{ audience: 'a' }, { audience: 'a' }],
    ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
  ],
  [
    'a short token',
    'spec/tokenRequests',
    [{ audience: 'a', expirationSeconds: 599 }],
    ['spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes'],
  ],
  [
    'a token for ever',
    'spec/tokenRequests',
    [{ audience: 'a', expirationSeconds: 4_294_967_297 }],
    ['spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'],
  ],
])('a CSIDriver with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('storage/v1.CSIDriver', withChange(driver, path, value))).toEqual(problems)
})

test('the attach mode of a CSIDriver is immutable', () => {
  const changed = withChange(withChange(driver, 'spec/attachRequired', true), 'spec/storageCapacity', false)
  expect(problemsOf('storage/v1.CSIDriver', changed, { live: driver })).toEqual([
    'spec.attachedRequired: Invalid value: true: field is immutable',
  ])
})

const capacity: Body = {
  metadata: { name: 'a' },
  nodeTopology: { matchLabels: { a: 'b' } },
  storageClassName: 'fast',
  capacity: '1Gi',
  maximumVolumeSize: '1Gi',
}

test('a CSIStorageCapacity may have only its class, which is immutable', () => {
  expect(problemsOf('storage/v1.CSIStorageCapacity', capacity)).toEqual([])
  expect(problemsOf('storage/v1beta1.CSIStorageCapacity', { storageClassName: 'fast' })).toEqual([])
  expect(problemsOf('storage/v1.CSIStorageCapacity', { ...capacity, capacity: '-1' })).toEqual([
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ])
  expect(problemsOf('storage/v1.CSIStorageCapacity', { ...capacity, maximumVolumeSize: '-1' })).toEqual([])
  expect(
    problemsOf('storage/v1.CSIStorageCapacity', { ...capacity, capacity: '2Gi', storageClassName: 'slow' }, { live: capacity }),
  ).toEqual(['storageClassName: Invalid value: "slow": field is immutable'])
})

test('a RuntimeClass has each toleration once', () => {
  const twice = withChange(runtimeClass, 'scheduling/tolerations', [toleration, { ...toleration, tolerationSeconds: 6 }])
  expect(problemsOf('node/v1.RuntimeClass', twice)).toEqual([expect.stringContaining('scheduling.tolerations[1]: Duplicate value')])
})

test('a PriorityClass has a valid policy, and other fields of a system class may change', () => {
  const judge = (body: Body, live?: Body) => problemsOf('scheduling/v1.PriorityClass', body, live === undefined ? {} : { live })
  expect(judge({ metadata: { name: 'a' }, value: 1, preemptionPolicy: '' })).toEqual(['preemptionPolicy: Required value'])
  const system = { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }
  expect(judge({ ...system, globalDefault: true }, system)).toEqual([])
})

test('conditions of a PodDisruptionBudget have the shared form of conditions', () => {
  const status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  const judge = (condition: Body) =>
    problemsOf(
      'policy/v1.PodDisruptionBudget',
      { metadata: { name: 'b', namespace: 'n' }, spec: {}, status: { ...status, conditions: [condition] } },
      { part: 'status' },
    )
  const good = { type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' }
  const at = 'status.conditions[0]'
  expect(judge(good)).toEqual([])
  expect(judge({ ...good, status: '' })).toEqual([`${at}.status: Unsupported value: "": supported values: "False", "True", "Unknown"`])
  expect(judge({ ...good, observedGeneration: -1 })).toEqual([
    `${at}.observedGeneration: Invalid value: -1: must be greater than or equal to zero`,
  ])
  expect(judge({ ...good, reason: '' })).toEqual([`${at}.reason: Required value: must be set`])
  expect(judge({ ...good, type: '' })[0]).toContain(`${at}.type: Invalid value: ""`)
})

test('KIND-RQ-03: a fractional amount of a counted resource is shown in its given form', () => {
  const amount = (value: number, scale: number) =>
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"", Format:"DecimalSI"}`
  expect(problemsOf('core/v1.ResourceQuota', { spec: { hard: { pods: '1.5' } } })).toEqual([
    `spec.hard[pods]: Invalid value: ${amount(15, -1)}: must be an integer`,
  ])
  const status = { hard: { pods: '0.25' }, used: { pods: '2.5' } }
  expect(problemsOf('core/v1.ResourceQuota', { spec: {}, status }, { part: 'status' })).toEqual([
    `status.hard[pods]: Invalid value: ${amount(25, -2)}: must be an integer`,
    `status.used[pods]: Invalid value: ${amount(25, -1)}: must be an integer`,
  ])
})
