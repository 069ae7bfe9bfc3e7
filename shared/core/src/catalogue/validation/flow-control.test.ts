import { expect, test } from 'vitest'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../../flow-control/mandatory.ts'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const schema: Body = {
  metadata: { name: 'a' },
  spec: {
    priorityLevelConfiguration: { name: 'low' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [
          { kind: 'User', user: { name: '*' } },
          { kind: 'Group', group: { name: 'g' } },
          { kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name: '*' } },
        ],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['pods'], namespaces: ['*'], clusterScope: true }],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/', '/a/*'] }],
      },
    ],
  },
}

test.each(['v1beta1', 'v1beta2'])('a FlowSchema of %s with everything set is valid', (version) => {
  expect(problemsOf(`flowcontrol/${version}.FlowSchema`, schema)).toEqual([])
})

test.each<readonly [string, string, unknown, readonly string[]]>([
  ['no precedence', 'matchingPrecedence', -1, ['matchingPrecedence: Invalid value: -1: must be a positive value']],
  ['a late precedence', 'matchingPrecedence', 10_001, ['matchingPrecedence: Invalid value: 10001: must not be greater than 10000']],
  [
    'the first precedence',
    'matchingPrecedence',
    1,
    [`matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1`],
  ],
  [
    'a method',
    'distinguisherMethod',
    { type: 'ByMood' },
    [
      'distinguisherMethod.type: Unsupported value: flowcontrol.FlowDistinguisherMethod{Type:"ByMood"}: supported values: "ByNamespace", "ByUser"',
    ],
  ],
  [
    'no level',
    'priorityLevelConfiguration',
    { name: '' },
    ['priorityLevelConfiguration.name: Required value: must reference a priority level'],
  ],
  [
    'an empty rule',
    'rules',
    [{ subjects: [] }],
    [
      'rules[0].subjects: Required value: subjects must contain at least one value',
      'rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
    ],
  ],
  [
    'a subject',
    'rules/0/subjects',
    [{ kind: 'Robot' }],
    ['rules[0].subjects[0].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"'],
  ],
  [
    'a user that is a group',
    'rules/0/subjects',
    [{ kind: 'User', group: { name: 'g' } }],
    [
      `rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'`,
      `rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'`,
    ],
  ],
  [
    'an account of nowhere',
    'rules/0/subjects',
    [{ kind: 'ServiceAccount', serviceAccount: { namespace: '', name: 'a' } }],
    ['rules[0].subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account'],
  ],
  [
    'all verbs and one',
    'rules/0/resourceRules/0/verbs',
    ['*', 'get'],
    [`rules[0].resourceRules[0].verbs: Invalid value: []string{"*", "get"}: if '*' is present, must not specify other verbs`],
  ],
  [
    'resources of no namespace',
    'rules/0/resourceRules',
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    ['rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace'],
  ],
  ...['a', '/a b', '/a//b', '/a*'].map((path, index): [string, string, unknown, readonly string[]] => [
    `the path ${path}`,
    'rules/0/nonResourceRules',
    [{ verbs: ['get'], nonResourceURLs: [path] }],
    [
      `rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "${path}": ${
        ['must start with slash', 'must not contain white-space', 'must not contain double slash', 'wildcard can only do suffix matching'][
          index
        ]
      }`,
    ],
  ]),
])('a FlowSchema with %s has the expected errors', (_, path, value, problems) => {
  expect(problemsOf('flowcontrol/v1beta2.FlowSchema', withChange(schema, `spec/${path}`, value))).toEqual(
    problems.map((problem) => `spec.${problem}`),
  )
})

const level = (limited: Body | undefined, type = 'Limited', name = 'a'): Body => ({ metadata: { name }, spec: { type, limited } })
const queue = (queuing: Body | undefined, type = 'Queue'): Body => ({ assuredConcurrencyShares: 5, limitResponse: { type, queuing } })

test.each<readonly [string, Body, readonly string[]]>([
  ['everything set', level(queue({ queues: 64, handSize: 8, queueLengthLimit: 50 })), []],
  ['refusals', level(queue(undefined, 'Reject')), []],
  ['no bounds, for the exempt', level(undefined, 'Exempt', 'exempt'), []],
  [
    'no bounds, for others',
    level(undefined, 'Exempt'),
    [`type: Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'`],
  ],
  ['no bounds', level(undefined), ['limited: Required value: must not be empty when type is Limited']],
  ['a type', level(undefined, 'Some'), ['type: Unsupported value: "Some": supported values: "Exempt", "Limited"']],
  [
    'no share',
    level({ assuredConcurrencyShares: -1, limitResponse: { type: 'Reject' } }),
    ['limited.assuredConcurrencyShares: Invalid value: -1: must be positive'],
  ],
  [
    'no queues',
    level(queue(undefined)),
    ['limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited'],
  ],
  [
    'queues for nobody',
    level(queue({}, 'Reject')),
    ['limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited'],
  ],
  [
    'a hand of more than all',
    level(queue({ queues: 4, handSize: 5 })),
    ['limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)'],
  ],
  [
    'a hand that needs too much chance',
    level(queue({ queues: 1024, handSize: 7 })),
    [
      'limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60',
    ],
  ],
])('a PriorityLevelConfiguration with %s has the expected errors', (_, body, problems) => {
  expect(problemsOf('flowcontrol/v1beta2.PriorityLevelConfiguration', body)).toEqual(problems.map((problem) => `spec.${problem}`))
})

const schemaType = 'flowcontrol/v1beta2.FlowSchema'
const levelType = 'flowcontrol/v1beta2.PriorityLevelConfiguration'

test.each([
  [
    'any namespace of an account',
    'rules/0/subjects/2/serviceAccount/namespace',
    '*',
    'rules[0].subjects[2].serviceAccount.namespace: Invalid value: "*": a',
  ],
  [
    'a namespace of no name',
    'rules/0/resourceRules/0/namespaces',
    ['A'],
    'rules[0].resourceRules[0].namespaces[0]: Invalid value: "A": each member of this list must be \'*\' or a DNS-1123 label; a',
  ],
  [
    'a verb that is none',
    'rules/0/nonResourceRules/0/verbs',
    ['look', 'get'],
    'rules[0].nonResourceRules[0].verbs: Unsupported value: []string{"look", "get"}: supported values: "create"',
  ],
])('a FlowSchema with %s is refused', (_, path, value, problem) => {
  expect(problemsOf(schemaType, withChange(schema, `spec/${path}`, value))).toEqual([expect.stringContaining(`spec.${problem}`)])
})

test.each<readonly [string, Readonly<Record<string, object>>]>([
  [schemaType, mandatoryFlowSchemas],
  [levelType, mandatoryPriorityLevels],
])('a mandatory %s is immutable', (type, specs) => {
  for (const [name, spec] of Object.entries(specs)) {
    const body = { metadata: { name }, spec: structuredClone(spec) as Body }
    expect(problemsOf(type, body)).toEqual([])
    const path = type === schemaType ? 'spec/matchingPrecedence' : 'spec/type'
    const changed = withChange(body, path, type === schemaType ? 7 : 'Some')
    expect(problemsOf(type, changed)).toContainEqual(expect.stringContaining(`spec of '${name}' must equal the fixed value`))
  }
})

test('conditions of flow control have distinct types', () => {
  const status = { conditions: [{ type: 'A' }, { type: 'A' }, {}] }
  for (const type of [schemaType, levelType]) {
    expect(problemsOf(type, { ...schema, status }, { part: 'status' })).toEqual([
      'status.conditions[1].type: Duplicate value: "A"',
      'status.conditions[2].type: Required value: must not be empty',
    ])
  }
})

test.each([
  [35, 'spec.limited: Required value: must not be empty when type is Limited'],
  [36, 'spec.limited: Required value'],
])('TODAY-FLOW-01: at level 1.%d a v1 priority level without its bounds is refused', (release, problem) => {
  expect(problemsOf('flowcontrol/v1.PriorityLevelConfiguration', level(undefined), { level: release })).toEqual([problem])
})
