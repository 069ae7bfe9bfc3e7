import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import type { StartOptions } from 'orch'
import { describe, expect, test } from 'vitest'
import { type Api, aNamespace, anApi, configMap, configMapsIn, created, until } from '../api/api.ts'
import { aDecider, verdict } from './decider.ts'
import { aPerson, onceAllowed } from './people.ts'

const anApiWith = (...flags: string[]) => anApi({ flags, controllers: [] } satisfies StartOptions)
const pods = '/api/v1/namespaces/default/pods'

describe('authorization modes', () => {
  test('AUTHZ-02: include AlwaysAllow, which allows every authenticated user everything', async () => {
    expect((await aPerson(await anApiWith('--authorization-mode=AlwaysAllow')).get('/metrics')).status).toBe(200)
  })

  test('AUTHZ-07: include AlwaysDeny, which allows only administrators', async () => {
    const api = await anApiWith('--authorization-mode=AlwaysDeny')
    expect((await aPerson(api).get(pods)).body.message).toMatch(/in the namespace "default": alwaysdeny: Everything is forbidden\.$/)
    expect((await api.get(pods)).status).toBe(200)
  })

  test('AUTHZ-07: are asked in order until one has an opinion', async () => {
    const api = await anApiWith('--authorization-mode=AlwaysDeny,AlwaysAllow')
    expect((await aPerson(api).get(pods)).status).toBe(200)
  })
})

describe('AUTHZ-04: ABAC', () => {
  const line = (spec: object) => JSON.stringify({ apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy', spec })
  const withPolicies = async (...lines: string[]) => {
    const file = join(aFolder(), 'policies.jsonl')
    writeFileSync(file, lines.join('\n'))
    return anApiWith('--authorization-mode=ABAC', `--authorization-policy-file=${file}`)
  }

  test('AUTHZ-04: grants users and groups access to resources and paths by lines', async () => {
    const api = await withPolicies(
      '# comments and empty lines are skipped',
      '',
      line({ user: 'alice', namespace: '*', resource: '*', apiGroup: '*' }),
      line({ user: 'bob', namespace: 'default', resource: 'pods', readonly: true }),
      line({ group: 'probes', nonResourcePath: '/metrics*' }),
    )
    const [alice, bob, probe] = [aPerson(api, 'alice'), aPerson(api, 'bob'), aPerson(api, 'p', 'probes')]
    expect((await alice.post(configMapsIn('default'), configMap({ name: 'a' }))).status).toBe(201)
    expect((await bob.get(pods)).status).toBe(200)
    expect((await bob.post(pods, {})).body.message).toMatch(/cannot create resource "pods" .*: abac: No policy matched\.$/)
    expect((await bob.get('/api/v1/namespaces/other/pods')).status).toBe(403)
    expect((await probe.get('/metrics')).status).toBe(200)
    expect((await alice.get('/metrics')).status).toBe(403)
  })

  test('AUTHZ-08, AUTHN-ANON-09, AUTHN-ANON-10: matches every authenticated user with a star, and no anonymous request', async () => {
    const api = await withPolicies(line({ user: '*', namespace: '*', resource: 'pods' }))
    expect((await aPerson(api).get(pods)).status).toBe(200)
    expect((await aPerson(api, 'system:anonymous', 'system:unauthenticated').get(pods)).status).toBe(403)
  })

  test('AUTHZ-08: accepts the older format without a version, where an absent member matches everything except anonymous requests', async () => {
    const api = await withPolicies(
      '{"user":"alice"}',
      '{"user":"bob","resource":"pods","readonly":true}',
      '{"group":"team","namespace":"default"}',
      '{"resource":"endpoints","namespace":"default"}',
    )
    const [alice, bob, mate] = [aPerson(api, 'alice'), aPerson(api, 'bob'), aPerson(api, 'm', 'team')]
    expect((await alice.get('/metrics')).status).toBe(200)
    expect((await alice.get('/apis/apps/v1/deployments')).status).toBe(200)
    expect((await bob.get(pods)).status).toBe(200)
    expect((await bob.get('/api/v1/namespaces/other/pods')).status).toBe(200)
    expect((await bob.post(pods, {})).status).toBe(403)
    expect((await bob.get('/metrics')).status).toBe(403)
    expect((await mate.get('/apis/apps/v1/namespaces/default/deployments')).status).toBe(200)
    expect((await mate.get('/apis/apps/v1/namespaces/other/deployments')).status).toBe(403)
    const endpoints = '/api/v1/namespaces/default/endpoints'
    expect((await bob.get(endpoints)).status).toBe(200)
    expect((await aPerson(api, 'system:anonymous', 'system:unauthenticated').get(endpoints)).status).toBe(403)
  })

  test('NAME-01, AUTHZ-04: uses the group abac.authorization.kubernetes.io in profile kubernetes', async () => {
    const file = join(aFolder(), 'policies.jsonl')
    const apiVersion = 'abac.authorization.kubernetes.io/v1beta1'
    writeFileSync(file, JSON.stringify({ apiVersion, kind: 'Policy', spec: { user: 'bob', namespace: '*', resource: 'pods' } }))
    const flags = ['--authorization-mode=ABAC', `--authorization-policy-file=${file}`]
    const api = await anApi({ profile: 'kubernetes', flags, controllers: [] })
    expect((await aPerson(api, 'bob').get(pods)).status).toBe(200)
    expect((await aPerson(api, 'joe').get(pods)).status).toBe(403)
  })

  test('AUTHZ-04, CTRL-02: lets the controllers work alone with the line of docs/how-to/authorization.md, and not without it', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/authorization.md'), 'utf8')
    const ownLine = page.split('\n').find((text) => text.startsWith('{"apiVersion":"abac.') && text.includes('system:serviceaccounts:'))
    const aServerWith = async (lines: readonly string[]) => {
      const file = join(aFolder(), 'policies.jsonl')
      writeFileSync(file, lines.join('\n'))
      const api = await anApi({ profile: 'kubernetes', flags: ['--authorization-mode=ABAC', `--authorization-policy-file=${file}`] })
      const account = { verb: 'delete', group: '', resource: 'configmaps', namespace: 'default' }
      const user = 'system:serviceaccount:kube-system:namespace-controller'
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated']
      const review = await created(api, '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user, groups, resourceAttributes: account },
      })
      return { api, isAllowed: (review['status'] as { allowed: boolean }).allowed }
    }
    expect((await aServerWith([])).isAllowed).toBe(false)
    const { api, isAllowed } = await aServerWith([ownLine ?? ''])
    expect(isAllowed).toBe(true)
    const namespace = await aNamespace(api)
    await created(api, configMapsIn(namespace), configMap({ name: 'a' }))
    await api.delete(`/api/v1/namespaces/${namespace}`)
    const gone = await until(
      () => api.get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
    )
    expect(gone.status).toBe(404)
  })

  test.each([
    ['what is no JSON', ['{', ''], 'line 1: must be an object in JSON'],
    ['another version', [line({}), '{"apiVersion":"v0","kind":"Policy"}'], 'line 2: must be an object with "apiVersion"'],
    ['an unknown field', [line({ users: 'x' })], 'line 1: spec.users: is not known'],
    ['an unknown field of the older format', ['', '{"user":"x","apiGroup":"*"}'], 'line 2: apiGroup: is not known'],
    ['a wrong type', [line({ readonly: 'yes' })], 'line 1: spec.readonly: must be true or false'],
  ])('AUTHZ-08: refuses %s with the line', async (_name, lines, expected) => {
    await expect(withPolicies(...lines)).rejects.toThrow(expected)
  })
})

describe('Webhook authorization', () => {
  test.each(['v1', 'v1beta1'])('AUTHZ-07: sends a SubjectAccessReview of %s, and caches the answer', async (version) => {
    const { asked, flags } = await aDecider((review) =>
      verdict(review, review.spec.resourceAttributes?.verb === 'list' ? { allowed: true } : { allowed: false, reason: 'not you' }),
    )
    const api = await anApiWith(...flags, `--authorization-webhook-version=${version}`)
    const person = aPerson(api, 'jane', 'dev')
    expect((await person.get(pods)).status).toBe(200)
    expect((await person.get(pods)).status).toBe(200)
    expect(asked).toHaveLength(1)
    const groups = ['dev', 'system:authenticated']
    expect(asked[0]).toMatchObject({
      kind: 'SubjectAccessReview',
      apiVersion: `authorization.orch.io/${version}`,
      spec: {
        user: 'jane',
        ...(version === 'v1' ? { groups } : { group: groups }),
        resourceAttributes: { verb: 'list', resource: 'pods', version: 'v1', namespace: 'default' },
      },
    })
    expect((await person.get(`${pods}/x`)).body.message).toMatch(/: not you$/)
    expect((await api.get(pods)).status).toBe(200)
    expect(asked).toHaveLength(2)
  })

  test('AZC-13: sends the selectors of a list and of a deletion, and not of other requests', async () => {
    const { asked, flags } = await aDecider((review) => verdict(review, { allowed: true }))
    const person = aPerson(await anApiWith(...flags), 'jane', 'dev')
    const query = 'labelSelector=a%3D1&fieldSelector=metadata.namespace%3Ddefault'
    expect((await person.get(`${pods}?${query}`)).status).toBe(200)
    expect((await person.send('DELETE', `${pods}?${query}`)).status).toBe(200)
    expect((await person.get(`${pods}/a?${query}`)).status).toBe(404)
    const selectors = {
      fieldSelector: { requirements: [{ key: 'metadata.namespace', operator: 'In', values: ['default'] }] },
      labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['1'] }] },
    }
    expect(asked.map(({ spec }) => spec.resourceAttributes)).toEqual([
      { verb: 'list', namespace: 'default', version: 'v1', resource: 'pods', ...selectors },
      { verb: 'deletecollection', namespace: 'default', version: 'v1', resource: 'pods', ...selectors },
      { verb: 'get', namespace: 'default', version: 'v1', resource: 'pods', name: 'a' },
    ])
  })

  test('AZC-14: sends the selectors of a client’s review, term by term', async () => {
    const { asked, flags } = await aDecider((review) => verdict(review, { allowed: true }))
    const api = await anApiWith(...flags)
    const selectors = {
      fieldSelector: { rawSelector: 'metadata.namespace=a\\,b' },
      labelSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['1', '2'] },
          { key: 'b', operator: 'DoesNotExist' },
        ],
      },
    }
    const spec = { user: 'jane', resourceAttributes: { verb: 'list', resource: 'pods', ...selectors } }
    const review = { apiVersion: 'authorization.orch.io/v1', kind: 'SubjectAccessReview', spec }
    expect((await api.post('/apis/authorization.orch.io/v1/subjectaccessreviews', review)).body['status']).toMatchObject({ allowed: true })
    expect(asked.map(({ spec: { resourceAttributes } }) => resourceAttributes)).toMatchObject([
      {
        fieldSelector: { requirements: [{ key: 'metadata.namespace', operator: 'In', values: ['a,b'] }] },
        labelSelector: selectors.labelSelector,
      },
    ])
  })

  test('AZC-15: sends the selectors of an authorizer check in CEL', async () => {
    const isSelecting = ({ spec: { resourceAttributes } }: { readonly spec: { readonly resourceAttributes?: object } }) =>
      JSON.stringify(resourceAttributes).includes('fieldSelector') || !JSON.stringify(resourceAttributes).includes('"list"')
    const { asked, flags } = await aDecider((review) => verdict(review, { allowed: isSelecting(review) }))
    const api = await anApiWith(...flags)
    const group = 'admissionregistration.orch.io'
    const check = (selectors: string) => `authorizer.group('').resource('pods').namespace('default')${selectors}.check('list').allowed()`
    const expression = `${check(".fieldSelector('spec.nodeName=n1').labelSelector('a=b')")} && !${check('')}`
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
    await created(api, `/apis/${group}/v1/validatingadmissionpolicies`, {
      ...{ apiVersion: `${group}/v1`, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'p' } },
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] },
    })
    await created(api, `/apis/${group}/v1/validatingadmissionpolicybindings`, {
      ...{ apiVersion: `${group}/v1`, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'b' } },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    })
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } }
    const headers = { 'impersonate-user': 'jane' }
    const answer = await api.send('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', { body: map, headers })
    const lists = asked.map(({ spec }) => spec.resourceAttributes).filter((attributes) => attributes?.resource === 'pods')
    expect(lists).toEqual([
      expect.objectContaining({
        verb: 'list',
        fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
        labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
      }),
      expect.not.objectContaining({ fieldSelector: expect.anything() }),
    ])
    expect(answer.status).toBe(201)
  })

  test('AUTHZ-07, LIM-12: does not cache answers to very long requests', async () => {
    const { asked, flags } = await aDecider((review) => verdict(review, { allowed: false }))
    const api = await anApiWith(...flags)
    const person = aPerson(api, 'jane', 'dev')
    const target = `/${'x'.repeat(20_000)}`
    expect((await person.get(target)).status).toBe(403)
    expect((await person.get(target)).status).toBe(403)
    expect(asked).toHaveLength(2)
  })

  test('AUTHZ-07: may deny finally', async () => {
    const { flags } = await aDecider((review) => verdict(review, { allowed: false, denied: true, reason: 'never' }), 'Webhook,AlwaysAllow')
    const api = await anApiWith(...flags)
    expect((await aPerson(api).get(pods)).body.message).toMatch(/: never$/)
  })

  test.each([
    ['another version', { body: { kind: 'SubjectAccessReview', apiVersion: 'x/v1', status: { allowed: true } } }],
    ['no decision', { body: { kind: 'SubjectAccessReview', apiVersion: 'authorization.orch.io/v1beta1', status: {} } }],
    ['what is no JSON', { body: '<html>' }],
    ['a failure', { code: 403, body: {} }],
    ['a redirect', { code: 302, body: {} }],
  ])('AUTHZ-07: treats %s as an answer as a 500, and not as an approval', async (_name, answer) => {
    const { flags } = await aDecider(() => answer)
    const api = await anApiWith(...flags)
    const { status, text } = await aPerson(api).get(pods)
    expect({ status, text }).toEqual({
      status: 500,
      text: expect.stringMatching(/^Internal Server Error: "\/api\/v1\/namespaces\/default\/pods": /),
    })
  })

  test('AUTHZ-07: treats an answer that allows and denies as a denial, which no later mode overrides', async () => {
    const { flags } = await aDecider((review) => verdict(review, { allowed: true, denied: true }), 'Webhook,AlwaysAllow')
    const api = await anApiWith(...flags)
    const { status, text } = await aPerson(api).get(pods)
    expect({ status, text }).toEqual({ status: 500, text: expect.stringContaining('both allow and deny') })
  })

  test('AUTHZ-07: needs a URL that is encrypted or on this machine, and not link-local', async () => {
    for (const [server, expected] of [
      ['http://192.0.2.1/decide', 'must begin with https://'],
      ['https://169.254.169.254/decide', 'link-local addresses are not asked'],
      ['https://[::ffff:169.254.169.254]/decide', 'link-local addresses are not asked'],
    ] as const) {
      const file = join(aFolder(), 'webhook.conf')
      const cluster = { name: 'c', cluster: { server } }
      writeFileSync(
        file,
        JSON.stringify({ clusters: [cluster], contexts: [{ name: 'x', context: { cluster: 'c' } }], 'current-context': 'x' }),
      )
      await expect(anApiWith('--authorization-mode=Webhook', `--authorization-webhook-config-file=${file}`)).rejects.toThrow(expected)
    }
  })

  test('AUTHZ-07: repeats a failed attempt, and sends equal requests once', async () => {
    let failures = 2
    const { asked, flags } = await aDecider((review) => (failures-- > 0 ? { code: 503, body: {} } : verdict(review, { allowed: true })))
    const api = await anApiWith(...flags)
    const person = aPerson(api)
    const answers = await Promise.all([person.get(pods), person.get(pods), person.get(pods)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(asked).toHaveLength(3)
  })

  test('AUTHZ-07: counts requests and decisions under the names of kube-apiserver', async () => {
    const { flags } = await aDecider((review) => verdict(review, { allowed: true }), 'RBAC,Webhook')
    const api = await anApiWith(...flags)
    expect((await aPerson(api, 'jane').get(pods)).status).toBe(200)
    const { text } = await api.get('/metrics')
    expect(text).toMatch(/^apiserver_authorization_webhook_evaluations_total\{name="default",result="success"\} 1$/m)
    expect(text).toMatch(/^apiserver_authorization_webhook_duration_seconds_count\{name="default",result="success"\} 1$/m)
    expect(text).toMatch(/^apiserver_authorization_decisions_total\{type="Webhook",name="default",decision="allowed"\} 1$/m)
  })

  test('VIRT-05: shows a final denial, an error, and that rules of a webhook cannot be listed in reviews', async () => {
    const { flags } = await aDecider((review) =>
      review.spec.resourceAttributes?.verb === 'list'
        ? verdict(review, { allowed: false, denied: true, reason: 'never' })
        : { code: 404, body: {} },
    )
    const api = await anApiWith(...flags)
    const ask = (kind: string, spec: object) =>
      api.post(`/apis/authorization.orch.io/v1/${kind.toLowerCase()}s`, { apiVersion: 'authorization.orch.io/v1', kind, spec })
    const about = (verb: string) => ({ user: 'jane', resourceAttributes: { verb, resource: 'pods', namespace: 'default' } })
    expect((await ask('SubjectAccessReview', about('list'))).body.status).toEqual({ allowed: false, denied: true, reason: 'never' })
    expect((await ask('SubjectAccessReview', about('get'))).body.status).toEqual({
      allowed: false,
      evaluationError: 'the authorization webhook has answered 404',
    })
    expect((await ask('SelfSubjectRulesReview', { namespace: 'default' })).body.status).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: 'webhook authorizer does not support user rule resolution',
    })
  })

  test('AUTHZ-07: leaves the decision to another mode after a failure', async () => {
    const { flags } = await aDecider(() => ({ code: 404, body: {} }), 'Webhook,AlwaysAllow')
    const api = await anApiWith(...flags)
    expect((await aPerson(api).get(pods)).status).toBe(200)
  })
})

describe('Node authorization', () => {
  const aNode = (api: Api, name: string) => aPerson(api, `system:node:${name}`, 'system:nodes')
  const secretsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`

  test('AUTHZ-07: lets a node read the objects that its pods need, and nothing else', async () => {
    const api = await anApiWith('--authorization-mode=Node,RBAC')
    const namespace = await aNamespace(api)
    for (const name of ['used', 'unused', 'key']) {
      await created(api, secretsIn(namespace), { apiVersion: 'v1', kind: 'Secret', metadata: { name } })
    }
    const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'claim' }
    const csi = { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: { name: 'key', namespace } }
    const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, claimRef, csi }
    await created(api, '/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v' }, spec: volume })
    await created(api, `/api/v1/namespaces/${namespace}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'used', key: 'k' } } }] }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }],
      },
    })
    const [own, other] = [aNode(api, 'n1'), aNode(api, 'n2')]
    expect((await onceAllowed(() => own.get(`${secretsIn(namespace)}/used`))).status).toBe(200)
    expect((await own.get(`${secretsIn(namespace)}/key`)).status).toBe(200)
    expect((await own.get('/api/v1/persistentvolumes/v')).status).toBe(200)
    expect((await own.get(`${secretsIn(namespace)}/unused`)).body.message).toMatch(
      /: node: no relationship found between node 'n1' and this object$/,
    )
    expect((await other.get(`${secretsIn(namespace)}/used`)).status).toBe(403)
    expect((await own.get(secretsIn(namespace))).status).toBe(403)
    await api.delete(`/api/v1/namespaces/${namespace}/pods/p?gracePeriodSeconds=0`)
    await expect.poll(async () => (await own.get(`${secretsIn(namespace)}/used`)).status).toBe(403)
  })

  test('AUTHZ-07: has refusals that differ by kind, verb and subresource, in the words of kube-apiserver', async () => {
    const api = await anApiWith('--authorization-mode=Node')
    const pod = (name: string, more: object = {}) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...more },
      spec: {
        nodeName: 'n1',
        serviceAccountName: 'runner',
        containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name: `of-${name}` } }] }],
        volumes: [{ name: 'v', projected: { sources: [{ secret: { name: `in-${name}` } }] } }],
      },
    })
    await created(api, '/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'runner' },
    })
    await created(api, pods, pod('p'))
    await created(api, pods, pod('mirror', { annotations: { 'orch.io/config.mirror': 'x' } }))
    await created(api, '/apis/storage.orch.io/v1/volumeattachments', {
      apiVersion: 'storage.orch.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'va' },
      spec: { attacher: 'a', nodeName: 'n1', source: { persistentVolumeName: 'pv' } },
    })
    const ask = async (attributes: object, node = 'n1') => {
      const spec = { user: `system:node:${node}`, groups: ['system:nodes'], resourceAttributes: { namespace: 'default', ...attributes } }
      const review = { apiVersion: 'authorization.orch.io/v1', kind: 'SubjectAccessReview', spec }
      const { status } = (await api.post('/apis/authorization.orch.io/v1/subjectaccessreviews', review)).body
      const { allowed, reason } = status as unknown as { allowed: boolean; reason?: string }
      return reason?.replace('node: ', '') ?? (allowed ? 'yes' : 'no')
    }
    await expect
      .poll(() => ask({ verb: 'get', group: 'storage.orch.io', resource: 'volumeattachments', name: 'va', namespace: '' }))
      .toBe('yes')
    const unrelated = "no relationship found between node 'n1' and this object"
    const cases: readonly (readonly [object, string])[] = [
      [{ verb: 'get', resource: 'configmaps', name: 'of-p' }, 'yes'],
      [{ verb: 'watch', resource: 'configmaps', name: 'of-p' }, 'yes'],
      [{ verb: 'get', resource: 'secrets', name: 'in-p' }, 'yes'],
      [{ verb: 'get', resource: 'configmaps', name: 'of-mirror' }, unrelated],
      [{ verb: 'list', resource: 'secrets' }, 'No Object name found'],
      [{ verb: 'update', resource: 'secrets', name: 'in-p' }, 'can only read resources of this type'],
      [{ verb: 'get', resource: 'secrets', name: 'in-p', namespace: '' }, 'can only read namespaced object of this type'],
      [{ verb: 'list', resource: 'persistentvolumeclaims' }, 'can only get individual resources of this type'],
      [{ verb: 'get', resource: 'persistentvolumeclaims', subresource: 'status', name: 'c' }, 'can only get/update/patch this type'],
      [{ verb: 'create', resource: 'serviceaccounts', subresource: 'token', name: 'runner' }, 'yes'],
      [{ verb: 'create', resource: 'serviceaccounts', subresource: 'token', name: 'default' }, unrelated],
      [{ verb: 'get', resource: 'serviceaccounts', name: 'runner' }, 'yes'],
      [{ verb: 'get', resource: 'serviceaccounts', name: 'default' }, unrelated],
      [{ verb: 'update', resource: 'serviceaccounts', name: 'runner' }, 'can only create tokens for individual service accounts'],
      [{ verb: 'create', resource: 'serviceaccounts', name: 'runner' }, 'can only create token subresource of serviceaccount'],
      [{ verb: 'create', group: 'storage.orch.io', resource: 'csinodes' }, 'yes'],
      [
        { verb: 'get', group: 'storage.orch.io', resource: 'csinodes', name: 'n2' },
        'can only access CSINode with the same name as the requesting node',
      ],
      [{ verb: 'list', group: 'storage.orch.io', resource: 'csinodes' }, 'can only get, create, update, patch, or delete a CSINode'],
      [
        { verb: 'get', group: 'coordination.orch.io', resource: 'leases', name: 'n1' },
        'can only access leases in the "orch-node-lease" system namespace',
      ],
      [{ verb: 'list', resource: 'pods' }, 'can only list/watch pods with spec.nodeName field selector'],
      [{ verb: 'list', resource: 'pods', fieldSelector: { rawSelector: 'spec.nodeName=n1' } }, 'yes'],
      [
        { verb: 'list', resource: 'pods', fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] } },
        'yes',
      ],
      [
        { verb: 'watch', resource: 'pods', fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'NotIn', values: ['n1'] }] } },
        'can only list/watch pods with spec.nodeName field selector',
      ],
      [{ verb: 'create', group: 'apps', resource: 'deployments' }, 'no'],
    ]
    for (const [attributes, expected] of cases) expect([attributes, await ask(attributes)]).toEqual([attributes, expected])
    expect(await ask({ verb: 'get', resource: 'nodes', name: 'x' }, '')).toBe('unknown node for user "system:node:"')
  })

  test('AUTHZ-07, AZC-16: lets a node renew only its own lease, and list its own pods', async () => {
    const api = await anApiWith('--authorization-mode=Node')
    const leases = '/apis/coordination.orch.io/v1/namespaces/orch-node-lease/leases'
    const [own, other] = [aNode(api, 'n1'), aNode(api, 'n2')]
    const lease = { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: 'n1' }, spec: {} }
    expect((await own.post(leases, lease)).status).toBe(201)
    expect((await own.get(`${leases}/n1`)).status).toBe(200)
    expect((await other.get(`${leases}/n1`)).body.message).toMatch(/can only access node lease with the same name as the requesting node$/)
    expect((await own.get('/api/v1/nodes')).body.message).toMatch(/node 'n1' cannot read all nodes, only its own Node object$/)
    expect((await own.get('/api/v1/nodes?fieldSelector=metadata.name%3Dn1')).status).toBe(200)
    expect((await own.get('/api/v1/pods')).status).toBe(403)
    expect((await own.get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1')).status).toBe(200)
    expect((await own.get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')).status).toBe(403)
    expect((await own.get('/apis/rbac.authorization.orch.io/v1/roles')).status).toBe(403)
  })
})
