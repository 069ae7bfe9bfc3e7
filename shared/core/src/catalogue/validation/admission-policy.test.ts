import { describe, expect, test } from 'vitest'
import { fillAdmissionPolicy } from '../defaults/policy.ts'
import { type Body, problemsOf } from '../testing/rules-testing.ts'

const rule = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['*'] }
/** A level before some messages were shortened. */
const level = 33

function aPolicy(spec: Body): Body {
  return {
    metadata: { name: 'policy' },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'object.x < 100' }], ...spec },
  }
}

const ofPolicy = (spec: Body) => problemsOf('admissionregistration/v1.ValidatingAdmissionPolicy', aPolicy(spec), { level })

test('VAP-02: a policy gets its defaults', () => {
  const policy = aPolicy({})
  fillAdmissionPolicy(policy)
  expect(policy).toMatchObject({
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, resourceRules: [{ scope: '*' }] },
    },
  })
})

test('VAP-03: a policy needs match constraints with a rule, and validations or annotations', () => {
  expect(ofPolicy({ matchConstraints: undefined })).toEqual(['spec.matchConstraints: Required value'])
  expect(ofPolicy({ matchConstraints: { resourceRules: [] } })).toEqual(['spec.matchConstraints.resourceRules: Required value'])
  expect(ofPolicy({ validations: [] })).toEqual([
    'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
    'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
  ])
  expect(ofPolicy({ validations: [], auditAnnotations: [{ key: 'k', valueExpression: "'v'" }] })).toEqual([])
})

test('VAP-04: up to 64 conditions have distinct names, and up to 20 annotations have distinct keys', () => {
  const conditions = Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' }))
  expect(ofPolicy({ matchConditions: conditions })).toEqual(['spec.matchConditions: Too many: 65: must have at most 64 items'])
  expect(ofPolicy({ matchConditions: [conditions[0], conditions[0]] })).toEqual(['spec.matchConditions[1].name: Duplicate value: "c0"'])
  const annotation = { key: 'k', valueExpression: "'v'" }
  expect(ofPolicy({ auditAnnotations: [annotation, annotation] })).toEqual(['spec.auditAnnotations[1].key: Duplicate value: "k"'])
  const many = Array.from({ length: 21 }, (_, index) => ({ ...annotation, key: `k${index}` }))
  expect(ofPolicy({ auditAnnotations: many })[0]).toMatch(
    /^spec.auditAnnotations: Invalid value: .*: must not have more than 20 auditAnnotations$/,
  )
})

const binding = (spec: Body) => {
  const body = { metadata: { name: 'binding' }, spec: { policyName: 'p', validationActions: ['Deny'], ...spec } }
  return problemsOf('admissionregistration/v1.ValidatingAdmissionPolicyBinding', body, { level })
}

test('VAP-05: parameters have a kind, and a binding refers to them in one way', () => {
  expect(ofPolicy({ paramKind: {} })).toEqual(['spec.paramKind.apiVersion: Required value', 'spec.paramKind.kind: Required value'])
  expect(ofPolicy({ paramKind: { apiVersion: 'a/b/c', kind: 'X' } })).toEqual([
    'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ])
  const parameterNotFoundAction = 'Allow'
  expect(binding({ paramRef: { parameterNotFoundAction } })).toEqual([
    'spec.paramRef: Required value: one of name or selector must be specified',
  ])
  expect(binding({ paramRef: { name: 'a', selector: {}, parameterNotFoundAction } })).toEqual([
    'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
    'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
  ])
  expect(binding({ paramRef: { name: 'a' } })).toEqual(['spec.paramRef.parameterNotFoundAction: Required value'])
  expect(binding({ paramRef: { name: 'a', parameterNotFoundAction } })).toEqual([])
  expect(binding({ paramRef: { name: 'a/b', parameterNotFoundAction } })).toEqual([
    `spec.paramRef.name: Invalid value: "a/b": may not contain '/'`,
  ])
})

test('VAP-06: a binding has valid actions', () => {
  expect(binding({ validationActions: [] })).toEqual(['spec.validationActions: Required value: at least one validation action is required'])
  expect(binding({ validationActions: ['Deny', 'Deny'] })).toEqual(['spec.validationActions[1]: Duplicate value: "Deny"'])
  expect(binding({ validationActions: ['Stop'] })).toEqual([
    'spec.validationActions[0]: Unsupported value: "Stop": supported values: "Audit", "Deny", "Warn"',
  ])
  expect(binding({ validationActions: ['Deny', 'Warn'] })[0]).toContain(
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
  )
  expect(binding({ validationActions: ['Warn', 'Audit'] })).toEqual([])
  expect(binding({ policyName: '' })).toEqual(['spec.policyName: Required value'])
})

describe('VAP-07: variables', () => {
  test('use earlier variables only', () => {
    const variables = [
      { name: 'first', expression: 'object.spec.replicas' },
      { name: 'second', expression: "variables.first > 5 ? 'many' : 'few'" },
    ]
    expect(ofPolicy({ variables, validations: [{ expression: "variables.second == 'few'" }] })).toEqual([])
    expect(ofPolicy({ variables: variables.toReversed() })[0]).toContain("undefined field 'first'")
    expect(ofPolicy({ variables, validations: [{ expression: 'variables.second == 5' }] })[0]).toContain(
      "found no matching overload for '_==_' applied to '(string, int)'",
    )
  })

  test.each(['1a', 'a-b', 'in', ''])('refuse the name %j', (name) => {
    expect(ofPolicy({ variables: [{ name, expression: '1' }] })[0]).toMatch(/^spec.variables\[0\].name: (Invalid|Required) value/)
  })

  test('require an expression', () => {
    expect(ofPolicy({ variables: [{ name: 'a' }] })).toEqual(['spec.variables[0].expression: Required value: expression is not specified'])
  })
})

describe('VAP-08: validations', () => {
  const validation = (one: Record<string, unknown>) => ofPolicy({ validations: [{ expression: 'true', ...one }] })
  const at = 'spec.validations[0]'
  test.each([
    [{ expression: ' ' }, `${at}.expression: Required value: expression is not specified`],
    [{ expression: '1' }, `${at}.expression: Invalid value: "1": must evaluate to bool but got int`],
    [{ expression: 'object.x' }, `${at}.expression: Invalid value: "object.x": must evaluate to bool but got dyn`],
    [{ message: ' ' }, `${at}.message: Invalid value: " ": message must be non-empty if specified`],
    [{ message: 'a\nb' }, `${at}.message: Invalid value: "a\\nb": message must not contain line breaks`],
    [{ expression: 'true &&\ntrue' }, `${at}.message: Required value: message must be specified if expression contains line breaks`],
    [{ messageExpression: ' ' }, `${at}.messageExpression: Invalid value: " ": must be non-empty if specified`],
    [{ messageExpression: '1' }, `${at}.messageExpression: Invalid value: "1": must evaluate to string but got int`],
    [{ reason: 'Other' }, `${at}.reason: Unsupported value: "Other": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`],
  ])('refuse %j', (one, problem) => {
    expect(validation(one)).toEqual([problem])
  })
})

describe('VAP-09: the variables of expressions', () => {
  test.each([
    'object.a == oldObject.a',
    "request.userInfo.username == 'a' && 'g' in request.userInfo.groups && request.dryRun == false",
    "request.kind.group == '' && request.requestResource.resource == 'pods' && request.subResource == ''",
    "namespaceObject.metadata.labels['a'] == 'b' && namespaceObject.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')",
    "authorizer.group('').resource('pods').check('create').allowed()",
    "authorizer.requestResource.check('approve').allowed()",
  ])('allow %s', (expression) => {
    expect(ofPolicy({ validations: [{ expression }] })).toEqual([])
  })

  test('include params with a paramKind, only fields of their types, and no authorizer in a message', () => {
    const usesParams = { validations: [{ expression: 'params.max > 5' }] }
    expect(ofPolicy(usesParams)[0]).toContain("undeclared reference to 'params'")
    expect(ofPolicy({ ...usesParams, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })).toEqual([])
    expect(ofPolicy({ validations: [{ expression: 'request.other == 5' }] })[0]).toContain("undefined field 'other'")
    const messageExpression = "authorizer.requestResource.check('x').reason()"
    expect(ofPolicy({ validations: [{ expression: 'true', messageExpression }] })[0]).toContain("undeclared reference to 'authorizer'")
  })
})

test('VAP-34: conditions of a webhook are compiled when it is written, without parameters and variables', () => {
  const webhook = { name: 'a.b.c', clientConfig: { url: 'https://a' }, sideEffects: 'None', admissionReviewVersions: ['v1'], rules: [rule] }
  const of = (expression: string) => {
    const webhooks = [{ ...webhook, matchConditions: [{ name: 'c', expression }] }]
    return problemsOf('admissionregistration/v1.ValidatingWebhookConfiguration', { metadata: { name: 'a' }, webhooks }, { level })
  }
  expect(of("request.operation != 'DELETE' && authorizer.requestResource.check('x').allowed()")).toEqual([])
  expect(of('params.x == 1')[0]).toMatch(
    /^webhooks\[0\]\.matchConditions\[0\]\.expression: Invalid value: .*undeclared reference to 'params'/,
  )
  expect(of('variables.x == 1')[0]).toContain("undeclared reference to 'variables'")
  expect(of("'text'")).toEqual([
    'webhooks[0].matchConditions[0].expression: Invalid value: "\'text\'": must evaluate to bool but got string',
  ])
})
