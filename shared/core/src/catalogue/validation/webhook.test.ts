import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const type = 'admissionregistration/v1.MutatingWebhookConfiguration'
const configuration: Body = {
  metadata: { name: 'a' },
  webhooks: [
    {
      name: 'a.example.com',
      clientConfig: { service: { name: 's', namespace: 'n', path: '/a/b', port: 8443 }, caBundle: 'YQ==' },
      rules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods', 'pods/*'], scope: '*' }],
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      namespaceSelector: { matchLabels: { a: 'b' } },
      objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      sideEffects: 'None',
      timeoutSeconds: 5,
      admissionReviewVersions: ['v1', 'v2'],
      reinvocationPolicy: 'IfNeeded',
    },
  ],
}

test('a configuration with all fields is valid', () => {
  expect(problemsOf(type, configuration)).toEqual([])
})

const form = '; desired format: https://host[/path]'

test.each<readonly [string, string, unknown, readonly string[]]>([
  ['no name', 'name', '', ['name: Required value']],
  ['a short name', 'name', 'a.b', ['name: Invalid value: "a.b": should be a domain with at least three segments separated by dots']],
  ['no operation', 'rules/0/operations', [], ['rules[0].operations: Required value']],
  [
    'an operation that does not exist',
    'rules/0/operations',
    ['READ'],
    ['rules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'],
  ],
  [
    'all operations and one more',
    'rules/0/operations',
    ['*', 'CREATE'],
    [
      `rules[0].operations: Invalid value: []admissionregistration.OperationType{"*", "CREATE"}: if '*' is present, must not specify other operations`,
    ],
  ],
  ['no group', 'rules/0/apiGroups', [], ['rules[0].apiGroups: Required value']],
  ['an empty version', 'rules/0/apiVersions', [''], ['rules[0].apiVersions[0]: Required value']],
  ['no resource', 'rules/0/resources', [], ['rules[0].resources: Required value']],
  ['an empty resource', 'rules/0/resources', [''], ['rules[0].resources[0]: Required value']],
  [
    'a subresource that is there already',
    'rules/0/resources',
    ['pods/*', 'pods/log'],
    [`rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`],
  ],
  [
    'everything and more',
    'rules/0/resources',
    ['*/*', 'a'],
    [`rules[0].resources: Invalid value: []string{"*/*", "a"}: if '*/*' is present, must not specify other resources`],
  ],
  [
    'all resources and one more',
    'rules/0/resources',
    ['*', 'a'],
    [`rules[0].resources: Invalid value: []string{"*", "a"}: if '*' is present, must not specify other resources without subresources`],
  ],
  ['one resource and then all', 'rules/0/resources', ['a', '*'], []],
  ['a scope', 'rules/0/scope', 'Both', ['rules[0].scope: Unsupported value: "Both": supported values: "*", "Cluster", "Namespaced"']],
  ['a policy', 'failurePolicy', 'Retry', ['failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"']],
  ['no side effects said', 'sideEffects', undefined, ['sideEffects: Required value: must specify one of None, NoneOnDryRun']],
  ['side effects', 'sideEffects', 'Some', ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"']],
  ['a long wait', 'timeoutSeconds', 31, ['timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds']],
  ['no review version', 'admissionReviewVersions', [], ['admissionReviewVersions: Required value: must specify one of v1, v1beta1']],
  [
    'no review version that is spoken',
    'admissionReviewVersions',
    ['v2'],
    ['admissionReviewVersions: Invalid value: []string{"v2"}: must include at least one of v1, v1beta1'],
  ],
  [
    'a review version twice',
    'admissionReviewVersions',
    ['v1', 'v1'],
    ['admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
  ],
  ['nowhere to call', 'clientConfig', {}, ['clientConfig: Required value: exactly one of url or service is required']],
  [
    'an operator that does not exist',
    'objectSelector',
    { matchExpressions: [{ key: 'a', operator: 'Like' }] },
    ['objectSelector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator'],
  ],
  ['http', 'clientConfig', { url: 'http://h' }, [`clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`]],
  [
    'HTTP in capitals',
    'clientConfig',
    { url: 'HTTP://h' },
    [`clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`],
  ],
  ['no host', 'clientConfig', { url: 'https:///x' }, [`clientConfig.url: Invalid value: "": host must be provided${form}`]],
  [
    'a user, a query and a fragment',
    'clientConfig',
    { url: 'https://u:p@h/?a=b#c' },
    [
      'clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
      'clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
      'clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
    ],
  ],
  ...[
    ['https://h:abc/x', 'parse "https://h:abc/x": invalid port ":abc" after host'],
    ['https://[::1/x', `parse "https://[::1/x": missing ']' in host`],
    ['https://h h/', 'parse "https://h h/": invalid character " " in host name'],
    ['https://h\\i/', 'parse "https://h\\\\i/": invalid character "\\\\" in host name'],
    ['https://h/%zz', 'parse "https://h/%zz": invalid URL escape "%zz"'],
    ['https://h/a\nb', 'parse "https://h/a\\nb": net/url: invalid control character in URL'],
    ['://h', 'parse "://h": missing protocol scheme'],
    ['https://h:1:2/x', 'parse "https://h:1:2/x": invalid port ":1:2" after host'],
  ].map(
    ([url, why]) =>
      [`the URL ${url}`, 'clientConfig', { url }, [`clientConfig.url: Required value: url must be a valid URL: ${why}${form}`]] as const,
  ),
  ['a URL', 'clientConfig', { url: 'https://h:8443/x' }, []],
  ['a URL without a name', 'clientConfig', { url: 'https://[::1]:8443/%20x' }, []],
  [
    'a service without names',
    'clientConfig/service',
    { port: 0 },
    [
      'clientConfig.service.name: Required value: service name is required',
      'clientConfig.service.namespace: Required value: service namespace is required',
      'clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    ],
  ],
  [
    'a path with a gap',
    'clientConfig/service/path',
    'a//b',
    [
      `clientConfig.service.path: Invalid value: "a//b": must start with a '/'`,
      'clientConfig.service.path: Invalid value: "a//b": segment[0] may not be empty',
      'clientConfig.service.path: Invalid value: "a//b": segment[1] may not be empty',
    ],
  ],
])('a webhook with %s has the expected errors', (_, path, value, problems) => {
  const expected = problems.map((problem) => `webhooks[0].${problem}`)
  expect(problemsOf(type, withChange(configuration, `webhooks/0/${path}`, value))).toEqual(expected)
})

test('LIM-12: a path of many empty segments has about a hundred errors, each of which shows the path', () => {
  const problems = problemsOf(type, withChange(configuration, 'webhooks/0/clientConfig/service/path', '/'.repeat(1_000)))
  expect(problems).toHaveLength(101)
})

test('webhooks of one configuration have distinct names', () => {
  const [webhook] = configuration['webhooks'] as Body[]
  expect(problemsOf(type, { ...configuration, webhooks: [webhook, webhook] })).toEqual([
    'webhooks[1].name: Duplicate value: "a.example.com"',
  ])
})

test('ADM-WH-48: an old configuration may keep its values, and may not add other invalid values', () => {
  const [webhook] = configuration['webhooks'] as Body[]
  const withWebhooks = (...changes: Body[]): Body => ({ ...configuration, webhooks: changes.map((change) => ({ ...webhook, ...change })) })
  const loud = withWebhooks({ sideEffects: 'Some' })
  const old = withWebhooks({ admissionReviewVersions: ['v1alpha1'] })
  const twice = withWebhooks({}, {})
  for (const stored of [loud, old, twice]) {
    expect(problemsOf(type, stored)).toHaveLength(1)
    expect(problemsOf(type, stored, { live: stored })).toEqual([])
    expect(problemsOf(type, stored, { live: configuration })).toHaveLength(1)
  }
  expect(problemsOf(type, withWebhooks({ sideEffects: 'Any' }), { live: loud })).toEqual([
    'webhooks[0].sideEffects: Unsupported value: "Any": supported values: "None", "NoneOnDryRun", "Some", "Unknown"',
  ])
})
