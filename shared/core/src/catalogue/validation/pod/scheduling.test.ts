import { describe, expect, test } from 'vitest'
import { type Body, problemsOf } from '../../testing/rules-testing.ts'

const type = 'core/v1.Pod'
const container = { name: 'c', image: 'i' }
const pod = (fields: Body): Body => ({ metadata: { name: 'p', namespace: 'n' }, spec: { containers: [container], ...fields } })
const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const nodes = (...nodeSelectorTerms: Body[]): Body => ({ affinity: { nodeAffinity: { [required]: { nodeSelectorTerms } } } })
const near = (term: Body): Body => pod({ affinity: { podAffinity: { [required]: [{ topologyKey: 't', ...term }] } } })
const spread = (fields: Body): Body =>
  pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 't', whenUnsatisfiable: 'DoNotSchedule', ...fields }] })
const merged = (key: string): Body => ({ matchExpressions: [{ key, operator: 'In', values: ['1'] }] })
const gates = (...names: string[]): Body => ({ schedulingGates: names.map((name) => ({ name })) })

const term = `spec.affinity.podAffinity.${required}[0]`
const terms = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`
const [a, b] = ['a', 'b'].map((key): Body => ({ key, operator: 'Exists' }))
const printed = (key: string) => `{"Key":"${key}","Operator":"Exists","Values":null}`
const unchangeable = expect.stringMatching(/^spec: Forbidden: pod updates may not change/)

describe('a new Pod', () => {
  const rows: readonly (readonly [name: string, level: number, body: Body, ...expected: string[]])[] = [
    ['has gates', 27, pod(gates('a', 'example.com/b'))],
    ['has each gate once', 27, pod(gates('a', 'a')), 'spec.schedulingGates[1]: Duplicate value: "a"'],
    [
      'has no node while there are gates',
      27,
      pod({ ...gates('a'), nodeName: 'n' }),
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ],
    ['is near Pods that share its labels', 31, near({ labelSelector: merged('a'), matchLabelKeys: ['a'], mismatchLabelKeys: ['b'] })],
    [
      'shares labels with Pods that a selector finds',
      31,
      near({ matchLabelKeys: ['a'] }),
      `${term}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
    ],
    [
      'has a label of a kind that it shares',
      31,
      near({ labelSelector: {}, mismatchLabelKeys: ['-'] }),
      expect.stringContaining(`${term}.mismatchLabelKeys[0]: Invalid value: "-"`),
    ],
    [
      'shares a label or avoids it',
      31,
      near({ labelSelector: {}, matchLabelKeys: ['a'], mismatchLabelKeys: ['a'] }),
      `${term}.matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys`,
    ],
    [
      'shares no label that the selector already finds',
      31,
      near({ labelSelector: { ...merged('a'), matchLabels: { a: '2' } }, matchLabelKeys: ['a'] }),
      `${term}[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
    ],
    [
      'is spread by a label that is not in the selector before 1.34',
      33,
      spread({ labelSelector: merged('a'), matchLabelKeys: ['a'] }),
      'spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector',
    ],
    [
      'is spread by a label that is merged into the selector from 1.34 on',
      34,
      spread({ labelSelector: merged('a'), matchLabelKeys: ['a'] }),
    ],
    [
      'is spread by a label once',
      34,
      spread({ labelSelector: { ...merged('a'), matchLabels: { a: '1' } }, matchLabelKeys: ['a'] }),
      'spec.topologySpreadConstraints[0][0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector',
    ],
    [
      'tolerates no numbers before 1.35',
      34,
      pod({ tolerations: [{ key: 'a', operator: 'Lt', value: '1' }] }),
      'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists"',
    ],
    [
      'tolerates no numbers by default',
      35,
      pod({ tolerations: [{ key: 'a', operator: 'Lt', value: '1' }] }),
      'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"',
    ],
  ]

  test.each(rows.map(([name, level, body, ...expected]) => ({ name, level, body, expected })))(
    'has the expected errors at level $level: $name',
    ({ level, body, expected }) => {
      expect(problemsOf(type, body, { level })).toEqual(expected)
    },
  )
})

describe('SCHED-29: a toleration of numbers', () => {
  const tolerating = (value: string) => pod({ tolerations: [{ key: 'a', operator: 'Gt', value }] })
  const isGateOn = (gate: string) => gate === 'TaintTolerationComparisonOperators'
  const at = 'spec.tolerations[0].value: Invalid value:'

  test.each([
    ['-7'],
    ['0'],
    ['01', `${at} "01": must be a valid decimal integer in canonical form`],
    ['9223372036854775808', `${at} "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of range`],
    ['', `${at} "": must be non-empty`, `${at} "": strconv.ParseInt: parsing "": invalid syntax`],
  ])('has a canonical int64 as its value while its feature is on: %j', (value, ...expected) => {
    expect(problemsOf(type, tolerating(value), { level: 37, isGateOn })).toEqual(expected)
  })

  test('stays in a Pod that has one already, while its feature is off', () => {
    const live = tolerating('1')
    const refusal = 'spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'
    expect(problemsOf(type, live, { level: 37 })).toEqual([refusal])
    expect(problemsOf(type, live, { level: 37, live })).toEqual([])
  })
})

describe('a Pod with scheduling gates', () => {
  const live = (fields: Body): Body => pod({ ...gates('g', 'h'), ...fields })

  const rows: readonly (readonly [name: string, before: Body, after: Body, ...expected: string[]])[] = [
    ['loses a gate', live({}), pod(gates('h'))],
    ['loses all gates', live({}), pod({})],
    [
      'gets no gate',
      pod(gates('h')),
      pod(gates('h', 'i')),
      "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'i'",
    ],
    ['gets a selector of nodes', live({}), live({ nodeSelector: { a: 'b' } })],
    [
      'keeps its selector of nodes',
      live({ nodeSelector: { a: 'b' } }),
      live({ nodeSelector: { a: 'c' } }),
      'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
    ['gets terms of nodes', live({}), live(nodes({ matchExpressions: [a] }, { matchExpressions: [b] }))],
    ['gets requirements in a term', live(nodes({ matchExpressions: [a] })), live(nodes({ matchExpressions: [a, b] }))],
    [
      'keeps the requirements of a term',
      live(nodes({ matchExpressions: [a] })),
      live(nodes({ matchExpressions: [b] })),
      `${terms}[0]: Invalid value: {"MatchExpressions":[${printed('b')}],"MatchFields":null}: only additions are allowed (no mutations or deletions)`,
    ],
    [
      'keeps the number of its terms',
      live(nodes({ matchExpressions: [a] })),
      live({}),
      `${terms}: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
    ],
    ['gets no affinity to Pods', live({}), live({ affinity: { podAffinity: { [required]: [{ topologyKey: 't' }] } } }), unchangeable],
    ['is not narrowed down once the gates are gone', pod({}), pod({ nodeSelector: { a: 'b' } }), unchangeable],
  ]

  test.each(rows.map(([name, before, after, ...expected]) => ({ name, before, after, expected })))(
    '$name',
    ({ before, after, expected }) => {
      expect(problemsOf(type, after, { level: 37, live: before })).toEqual(expected)
    },
  )

  test('may not be narrowed down at 1.26', () => {
    expect(problemsOf(type, live({ nodeSelector: { a: 'b' } }), { level: 26, live: live({}) })).toEqual([unchangeable])
  })
})

describe('the resource claims of a Pod', () => {
  const claims = (resourceClaims: readonly Body[], used: readonly Body[] = []): Body =>
    pod({ resourceClaims, containers: [{ ...container, resources: { claims: used } }] })
  const claim: Body = { name: 'r', resourceClaimName: 'a' }
  const shown = (name: string | null, template: string | null) =>
    `Invalid value: ${JSON.stringify({ Name: 'r', ResourceClaimName: name, ResourceClaimTemplateName: template })}`
  const at = 'spec.containers[0].resources.claims'
  const mustExist = 'must be one of the names in pod.spec.resourceClaims'

  const rows: readonly (readonly [name: string, body: Body, ...expected: string[]])[] = [
    ['are used by their names', claims([claim], [{ name: 'r' }])],
    [
      'are used by requests',
      claims(
        [claim],
        [
          { name: 'r', request: 'x' },
          { name: 'r', request: 'y' },
        ],
      ),
    ],
    [
      'are not used as a whole beside their requests',
      claims([claim], [{ name: 'r', request: 'x' }, { name: 'r', request: 'y' }, { name: 'r' }]),
      `${at}[2]: Duplicate value: "r"`,
    ],
    ['have names', claims([{ resourceClaimName: 'a' }]), 'spec.resourceClaims[0].name: Required value'],
    ['have names of their own', claims([claim, claim]), 'spec.resourceClaims[1].name: Duplicate value: "r"'],
    [
      'are claims or templates',
      claims([{ name: 'r', resourceClaimName: 'a', resourceClaimTemplateName: 'b' }]),
      `spec.resourceClaims[0]: ${shown('a', 'b')}: at most one of \`resourceClaimName\` or \`resourceClaimTemplateName\` may be specified`,
    ],
    [
      'are one of both',
      claims([{ name: 'r' }]),
      `spec.resourceClaims[0]: ${shown(null, null)}: must specify one of: \`resourceClaimName\`, \`resourceClaimTemplateName\``,
    ],
    ['are named where they are used', claims([claim], [{}]), `${at}[0]: Required value`],
    ['are used once', claims([claim], [{ name: 'r' }, { name: 'r' }]), `${at}[1]: Duplicate value: "r"`],
    [
      'have requests that are used once',
      claims(
        [claim],
        [
          { name: 'r', request: 'x' },
          { name: 'r', request: 'x' },
        ],
      ),
      `${at}[1]: Duplicate value: "r/x"`,
    ],
    ['are used as a whole or in parts', claims([claim], [{ name: 'r', request: 'x' }, { name: 'r' }]), `${at}[1]: Duplicate value: "r"`],
    ['are used where they are there', claims([claim], [{ name: 'x' }]), `${at}[0]: Not found: "x": ${mustExist}: r`],
    ['are used where there are some', claims([], [{ name: 'x' }]), `${at}[0]: Not found: "x": ${mustExist} which is empty`],
  ]

  test.each(rows.map(([name, body, ...expected]) => ({ name, body, expected })))('$name', ({ body, expected }) => {
    expect(problemsOf(type, body, { level: 37 })).toEqual(expected)
  })

  test('have a source member up to 1.30', () => {
    const both = { name: 'r', source: { resourceClaimName: 'a', resourceClaimTemplateName: 'b' } }
    expect(problemsOf(type, claims([both]), { level: 30 })).toEqual([
      expect.stringMatching(/^spec.resourceClaims\[0\].source: Invalid value: core.ClaimSource\{.*\}: at most one of `resourceClaimName`/),
    ])
  })

  test('are refused for static Pods', () => {
    const { spec } = claims([claim])
    const metadata = { name: 'p', namespace: 'n', annotations: { 'orch.io/config.mirror': 'x' } }
    const body = { metadata, spec: { ...(spec as Body), nodeName: 'n' } }
    expect(problemsOf(type, body, { level: 37 })).toEqual([': Forbidden: static pods do not support resource claims'])
  })
})
