import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { type Api, anApi, type Sending } from '../api/api.ts'
import { certificateRequest } from '../api/certificate-request.ts'
import { aDecider, type Review, verdict } from './decider.ts'

const rbac = 'rbac.authorization.orch.io'
const policies = 'admissionregistration.orch.io'
const certificates = 'certificates.orch.io'
const inDefault = '/api/v1/namespaces/default'
const rolesAt = `/apis/${rbac}/v1/namespaces/default`
const requestsAt = `/apis/${certificates}/v1/certificatesigningrequests`
const signer = 'example.com/signer'

/** One request of a user who has no rights. */
interface Request extends Sending {
  readonly method: string
  readonly target: string
}

const post = (target: string, body: object): Request => ({ method: 'POST', target, body })
const put = (target: string, body: object): Request => ({ method: 'PUT', target, body })
const apply = (target: string, body: object): Request => ({
  method: 'PATCH',
  target: `${target}?fieldManager=m&force=true`,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/apply-patch+yaml' },
})
const merge = (target: string, body: object): Request => ({
  method: 'PATCH',
  target,
  body,
  headers: { 'content-type': 'application/merge-patch+json' },
})

const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }]
const role = (name: string, kind = 'Role') => ({ apiVersion: `${rbac}/v1`, kind, metadata: { name }, rules })
const binding = (kind: string, ofRole: string, name: string) => ({
  apiVersion: `${rbac}/v1`,
  kind,
  metadata: { name: 'b' },
  roleRef: { apiGroup: rbac, kind: ofRole, name },
  subjects: [],
})
const configMap = (name: string, metadata: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } })
const owner = (more: object = {}) => ({ apiVersion: 'v1', kind: 'Secret', name: 'o', uid: 'u', ...more })
const blocking = owner({ blockOwnerDeletion: true })
const signing = {
  apiVersion: `${certificates}/v1`,
  kind: 'CertificateSigningRequest',
  metadata: { name: 'c' },
  spec: { request: certificateRequest, signerName: signer, usages: ['client auth'] },
}
const condition = (type: string) => ({ type, status: 'True', reason: 'r', message: 'm', lastUpdateTime: null })
const policy = (kind: string, paramKind: object) => ({
  apiVersion: `${policies}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: kind },
  spec: {
    paramKind,
    matchConstraints: { resourceRules: [{ apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['xs'] }] },
    validations: [{ expression: 'true' }],
  },
})
const policyBinding = (policyName: string, paramRef: object) => ({
  apiVersion: `${policies}/v1`,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'b' },
  spec: { policyName, validationActions: ['Deny'], paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } },
})
const as = (headers: Record<string, string>): Request => ({ method: 'GET', target: inDefault, headers })

/**
 * The authorizer's questions during a write, without the question about the request itself: verb, `group/version/resource/subresource`, namespace and
 * name.
 */
const questions: readonly (readonly [string, readonly Request[], readonly string[]])[] = [
  ['the creation of a Role', [post(`${rolesAt}/roles`, role('r'))], [`escalate ${rbac}/*/roles default -`]],
  [
    'an update of a Role',
    [post(`${rolesAt}/roles`, role('r')), put(`${rolesAt}/roles/r`, { ...role('r'), rules: [...rules, ...rules] })],
    [`escalate ${rbac}/*/roles default r`],
  ],
  [
    'an apply that creates a Role',
    [apply(`${rolesAt}/roles/r`, role('r'))],
    [`create ${rbac}/v1/roles default r`, `escalate ${rbac}/*/roles default r`],
  ],
  [
    'the creation of a ClusterRole',
    [post(`/apis/${rbac}/v1/clusterroles`, role('r', 'ClusterRole'))],
    [`escalate ${rbac}/*/clusterroles - -`],
  ],
  [
    'a RoleBinding to a ClusterRole',
    [post(`${rolesAt}/rolebindings`, binding('RoleBinding', 'ClusterRole', 'edit'))],
    [`bind ${rbac}/*/clusterroles default edit`],
  ],
  [
    'a RoleBinding to a Role',
    [post(`${rolesAt}/rolebindings`, binding('RoleBinding', 'Role', 'some'))],
    [`bind ${rbac}/*/roles default some`],
  ],
  [
    'a ClusterRoleBinding',
    [post(`/apis/${rbac}/v1/clusterrolebindings`, binding('ClusterRoleBinding', 'ClusterRole', 'edit'))],
    [`bind ${rbac}/*/clusterroles - edit`],
  ],
  ['an apply that creates', [apply(`${inDefault}/configmaps/a`, configMap('a'))], ['create /v1/configmaps default a']],
  [
    'an apply that changes',
    [post(`${inDefault}/configmaps`, configMap('a')), apply(`${inDefault}/configmaps/a`, { ...configMap('a'), data: { x: 'y' } })],
    [],
  ],
  [
    'a PUT that creates',
    [
      put(`/apis/coordination.orch.io/v1/namespaces/default/leases/l`, {
        ...configMap('l'),
        apiVersion: 'coordination.orch.io/v1',
        kind: 'Lease',
      }),
    ],
    ['create coordination.orch.io/v1/leases default l'],
  ],
  [
    'an approval of a certificate request',
    [post(requestsAt, signing), merge(`${requestsAt}/c/approval`, { status: { conditions: [condition('Approved')] } })],
    [`approve ${certificates}/*/signers - example.com/*`, `approve ${certificates}/*/signers - ${signer}`],
  ],
  [
    'the failure of a certificate request',
    [post(requestsAt, signing), merge(`${requestsAt}/c/status`, { status: { conditions: [condition('Failed')] } })],
    [`sign ${certificates}/*/signers - example.com/*`, `sign ${certificates}/*/signers - ${signer}`],
  ],
  ['an object with an owner', [post(`${inDefault}/configmaps`, configMap('a', { ownerReferences: [owner()] }))], []],
  [
    'an object that blocks its owner',
    [post(`${inDefault}/configmaps`, configMap('a', { ownerReferences: [blocking] }))],
    ['update */*/*/finalizers - *', 'update /v1/secrets/finalizers default o'],
  ],
  [
    'an owner for an object that is there',
    [post(`${inDefault}/configmaps`, configMap('a')), merge(`${inDefault}/configmaps/a`, { metadata: { ownerReferences: [blocking] } })],
    ['delete /v1/configmaps default a', 'update */*/*/finalizers - *', 'update /v1/secrets/finalizers default o'],
  ],
  [
    'a policy with parameters',
    [post(`/apis/${policies}/v1/validatingadmissionpolicies`, policy('p', { apiVersion: 'v1', kind: 'ConfigMap' }))],
    ['get /v1/configmaps * *'],
  ],
  [
    'a policy with parameters of a kind that is not served',
    [post(`/apis/${policies}/v1/validatingadmissionpolicies`, policy('p', { apiVersion: 'x.io/v1', kind: 'X' }))],
    ['get x.io/v1/* * *'],
  ],
  [
    'a binding to a policy that is not there',
    [post(`/apis/${policies}/v1/validatingadmissionpolicybindings`, policyBinding('none', { name: 'x' }))],
    ['get */*/* - x'],
  ],
  [
    'a binding with selected parameters',
    [
      post(`/apis/${policies}/v1/validatingadmissionpolicies`, policy('p', { apiVersion: 'v1', kind: 'ConfigMap' })),
      post(`/apis/${policies}/v1/validatingadmissionpolicybindings`, policyBinding('p', { selector: {}, namespace: 'default' })),
    ],
    ['list /v1/configmaps default -'],
  ],
  [
    'impersonation of a user',
    [
      as({
        'impersonate-user': 'jo',
        'impersonate-group': 'dev',
        'impersonate-uid': '7',
        'impersonate-extra-scope': 'view',
      }),
    ],
    [
      'impersonate /v1/groups - dev',
      'impersonate /v1/users - jo',
      'impersonate authentication.orch.io/v1/uids - 7',
      'impersonate authentication.orch.io/v1/userextras/scope - view',
    ],
  ],
  [
    'impersonation of a service account',
    [as({ 'impersonate-user': 'system:serviceaccount:team:robot' })],
    ['impersonate /v1/serviceaccounts team robot'],
  ],
]

const token = 'mark-token'

/** A server whose webhook allows every request except those for all resources at once, and the questions about a user's last request. */
async function aRecordingApi(): Promise<{ api: Api; asked: Review[] }> {
  const { asked, flags } = await aDecider((review) => verdict(review, { allowed: review.spec.resourceAttributes?.resource !== '*' }))
  const tokens = join(aFolder(), 'tokens.csv')
  writeFileSync(tokens, `${token},carl,1,"dev"\n`)
  const api = await anApi({
    flags: [
      ...flags,
      `--token-auth-file=${tokens}`,
      '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
      '--feature-gates=ConstrainedImpersonation=false',
      '--authorization-webhook-cache-authorized-ttl=0s',
      '--authorization-webhook-cache-unauthorized-ttl=0s',
    ],
    controllers: [],
  })
  return { api, asked }
}

function printQuestion({ spec: { resourceAttributes } }: Review): string {
  const attributes: Readonly<Record<string, unknown>> = resourceAttributes ?? {}
  const { verb, group = '', version = '', resource, subresource, namespace = '-', name = '-' } = attributes
  return `${verb} ${group}/${version}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${namespace} ${name}`
}

test.each(questions)('AUTHZ-07: %s sends the same authorization requests as kube-apiserver', async (_what, requests, expected) => {
  const { api, asked } = await aRecordingApi()
  const send = api.as({})
  for (const { method, target, headers = {}, ...sending } of requests) {
    asked.length = 0
    await send(method, target, { ...sending, headers: { authorization: `Bearer ${token}`, ...headers } })
  }
  const isAboutImpersonation = expected.some((question) => question.startsWith('impersonate'))
  // The first question is about the request itself, and the last question about impersonation.
  const others = isAboutImpersonation ? asked.slice(0, -1) : asked.slice(1)
  expect(others.map(printQuestion).sort()).toEqual([...expected].sort())
})
