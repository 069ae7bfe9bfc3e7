import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const type = 'autoscaling/v2.HorizontalPodAutoscaler'

const cpu: Body = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }
const outside: Body = { type: 'External', external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '5' } } }
const policies = (): Body[] => [{ type: 'Pods', value: 1, periodSeconds: 60 }]

const autoscaler: Body = {
  metadata: { name: 'a', namespace: 'n' },
  spec: {
    minReplicas: 1,
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    metrics: [
      cpu,
      outside,
      { type: 'Pods', pods: { metric: { name: 'p' }, target: { type: 'AverageValue', averageValue: '5' } } },
      {
        type: 'Object',
        object: { describedObject: { kind: 'K', name: 'k' }, metric: { name: 'o' }, target: { type: 'Value', value: '5' } },
      },
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 1 } },
      },
    ],
    behavior: {
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: policies() },
      scaleDown: { policies: policies() },
    },
  },
}

const metric = (value: Body): readonly [string, unknown] => ['spec/metrics', [value]]
const at = 'spec.metrics[0]'

test('an autoscaler with everything set is valid', () => expect(problemsOf(type, autoscaler)).toEqual([]))

type Row = readonly [name: string, change: readonly [string, unknown], ...expected: string[]]

const rows: readonly Row[] = [
  ['fewer than one', ['spec/minReplicas', -1], 'spec.minReplicas: Invalid value: -1: must be greater than or equal to 1'],
  [
    'no upper bound',
    ['spec/maxReplicas', undefined],
    'spec.maxReplicas: Invalid value: 0: must be greater than 0',
    'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
  ],
  ['less than the least', ['spec/minReplicas', 5], 'spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`'],
  ['nothing to scale', ['spec/scaleTargetRef', {}], 'spec.scaleTargetRef.kind: Required value', 'spec.scaleTargetRef.name: Required value'],
  [
    'a metric without a type',
    metric({ resource: cpu['resource'] }),
    `${at}.type: Required value: must specify a metric source type`,
    `${at}.type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
  ],
  [
    'a metric without a source',
    metric({ type: 'Resource' }),
    `${at}.resource: Required value: must populate information for the given metric source`,
  ],
  [
    'a metric of two sources',
    metric({ ...cpu, external: outside['external'] }),
    `${at}.external: Forbidden: must populate the given metric source only`,
  ],
  [
    'a resource without a target',
    metric({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }),
    `${at}.resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization`,
  ],
  [
    'a target of nothing',
    metric({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0 } } }),
    `${at}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
  ],
  [
    'a target of no kind',
    metric({ type: 'Resource', resource: { name: 'cpu', target: { type: 'X', averageUtilization: 1 } } }),
    `${at}.resource.target.type: Invalid value: "X": must be either Utilization, Value, or AverageValue`,
  ],
  [
    'Pods without an average',
    metric({ type: 'Pods', pods: { metric: { name: 'p' }, target: { type: 'Value', value: '1' } } }),
    `${at}.pods.target.averageValue: Required value: must specify a positive target averageValue`,
  ],
  [
    'a metric without a name',
    metric({ type: 'External', external: { metric: {}, target: { type: 'Value', value: '1' } } }),
    `${at}.external.metric.name: Required value: must specify a metric name`,
  ],
  [
    'Pods with an average of nothing',
    metric({ type: 'Pods', pods: { metric: { name: 'p' }, target: { type: 'AverageValue', averageValue: '0' } } }),
    `${at}.pods.target.averageValue: Invalid value: "0": must be positive`,
  ],
  [
    'a container that cannot be',
    ['spec/metrics/4/containerResource/container', 'C'],
    expect.stringMatching(/^spec\.metrics\[\d\]\.containerResource\.container: Invalid value: "C": a lowercase RFC 1123 label/) as string,
  ],
  [
    'no such choice',
    ['spec/behavior/scaleUp/selectPolicy', 'X'],
    'spec.behavior.scaleUp.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"',
  ],
  [
    'a long period',
    ['spec/behavior/scaleUp/policies/0/periodSeconds', 1801],
    'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
  ],
]

test.each(rows.map(([name, [path, value], ...expected]) => ({ name, path, value, expected })))(
  'an autoscaler has the expected errors: $name',
  ({ path, value, expected }) => {
    expect(problemsOf(type, withChange(autoscaler, path, value))).toEqual(expected)
  },
)

test('the first version has the same rule for its only target', () => {
  const first = { ...autoscaler, spec: { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'd' }, targetCPUUtilizationPercentage: 0 } }
  expect(problemsOf('autoscaling/v1.HorizontalPodAutoscaler', first)).toEqual([
    'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
  ])
})

test.each(['scaleUp', 'scaleDown'])('%s gets default policies if none are given, and an empty list of policies is refused', (direction) => {
  const missing = [`spec.behavior.${direction}.policies: Required value: must specify at least one Policy`]
  for (const behavior of [{}, { [direction]: {} }, { [direction]: { policies: null } }, { [direction]: { selectPolicy: 'Disabled' } }]) {
    expect(problemsOf(type, withChange(autoscaler, 'spec/behavior', behavior))).toEqual([])
  }
  expect(problemsOf(type, withChange(autoscaler, 'spec/behavior', { [direction]: { policies: [] } }))).toEqual(missing)
})

test('counts are not negative', () => {
  const status = { currentReplicas: -1, desiredReplicas: 0 }
  expect(problemsOf(type, { ...autoscaler, status }, { live: autoscaler, part: 'status' })).toEqual([
    'status.currentReplicas: Invalid value: -1: must be greater than or equal to 0',
  ])
})

test.each([
  [35, 0, ['Invalid value: 0: must be greater than 0', 'Invalid value: 0: must be greater than or equal to `minReplicas`']],
  [36, 0, ['Required value: must be set and greater than 0', 'Invalid value: 0: must be greater than or equal to `minReplicas`']],
  [37, 0, ['Invalid value: 0: must be greater than or equal to `minReplicas`', 'Required value']],
  [35, -1, ['Invalid value: -1: must be greater than 0', 'Invalid value: -1: must be greater than or equal to `minReplicas`']],
  [36, -1, ['Invalid value: -1: must be greater than or equal to 1', 'Invalid value: -1: must be greater than or equal to `minReplicas`']],
  [37, -1, ['Invalid value: -1: must be greater than or equal to `minReplicas`', 'Invalid value: -1: must be greater than or equal to 1']],
])('at level %s an upper bound of %s is refused in the words of its release', (level, most, problems) => {
  const body = withChange(autoscaler, 'spec/maxReplicas', most)
  expect(problemsOf(type, body, { level })).toEqual(problems.map((problem) => `spec.maxReplicas: ${problem}`))
})

test('the group of the target is checked from 1.34 on, where the target is new', () => {
  const aimed = (kind: string, apiVersion: string): Body => withChange(autoscaler, 'spec/scaleTargetRef', { kind, name: 'd', apiVersion })
  const path = 'spec.scaleTargetRef.apiVersion: Invalid value: '
  expect(problemsOf(type, aimed('Deployment', 'v1'), { level: 33 })).toEqual([])
  expect(problemsOf(type, aimed('Deployment', 'v1'), { level: 34 })).toEqual([`${path}"v1": apiVersion must specify API group`])
  expect(problemsOf(type, aimed('Deployment', 'a/b/c'), { level: 34 })).toEqual([`${path}"a/b/c": unexpected GroupVersion string: a/b/c`])
  expect(problemsOf(type, aimed('ReplicationController', 'v1'), { level: 34 })).toEqual([])
  expect(problemsOf(type, aimed('Deployment', ''), { level: 34, live: aimed('Deployment', '') })).toEqual([])
})
