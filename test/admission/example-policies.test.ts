import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { type Answer, type Api, aNamespace, created, sharedApi } from '../api/api.ts'

const page = readFileSync(new URL('../../docs/how-to/policies.md', import.meta.url), 'utf8')

/** The page's examples by name: their rules and the rest of the spec, in YAML. */
const examples = new Map(
  [...page.matchAll(/```yaml\nname: (.*)\nrules: (.*)\n([\s\S]*?)```/g)].map(([, name = '', rules = '', rest = '']) => [
    name,
    { rules, rest },
  ]),
)

const server = sharedApi({ profile: 'kubernetes', controllers: ['*', '-serviceaccount', '-root-ca-cert-publisher'] })
const api = (): Api => server.api
const apiVersion = 'admissionregistration.k8s.io/v1'

/** Puts an example into effect in a new namespace. */
async function anExample(name: string, { paramRef }: { readonly paramRef?: object } = {}) {
  const { rules, rest } = examples.get(name) ?? { rules: '', rest: '' }
  const namespace = await aNamespace(api())
  const at = (plural: string) => `/apis/${apiVersion}/${plural}`
  const policy = [
    `apiVersion: ${apiVersion}`,
    'kind: ValidatingAdmissionPolicy',
    `metadata: {name: ${name}}`,
    'spec:',
    `  matchConstraints: {resourceRules: ${rules}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${namespace}}}}`,
    ...rest.split('\n').map((line) => `  ${line}`),
  ].join('\n')
  const binding = { policyName: name, validationActions: ['Deny'], ...(paramRef === undefined ? {} : { paramRef }) }
  const answer = await api().send('POST', at('validatingadmissionpolicies'), {
    body: policy,
    headers: { 'content-type': 'application/yaml' },
  })
  if (answer.status !== 201) throw new Error(`${name}: ${answer.text}`)
  await created(api(), at('validatingadmissionpolicybindings'), {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: binding,
  })
  onTestFinished(async () => {
    await api().delete(`${at('validatingadmissionpolicybindings')}/${name}`)
    await api().delete(`${at('validatingadmissionpolicies')}/${name}`)
  })
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
  return { namespace, path, deploy: (fields: Fields = {}, user?: string) => deploy(path, fields, user) }
}

interface Fields {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly replicas?: number
  readonly container?: object
}

function deployment({ name = 'd', labels = {}, replicas = 1, container = {} }: Fields): object {
  const template = {
    metadata: { labels: { app: 'a' } },
    spec: { containers: [{ name: 'c', image: 'registry.example.com/c:1', ...container }] },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: { replicas, selector: { matchLabels: { app: 'a' } }, template },
  }
}

function deploy(path: string, fields: Fields, user?: string): Promise<Answer> {
  const headers: Record<string, string> = user === undefined ? {} : { 'impersonate-user': user }
  return api().send('POST', `${path}?dryRun=All`, { body: deployment(fields), headers })
}

const said = ({ status, body }: Answer) => `${status} ${String(body['message'] ?? '').replace(/^.*denied request: /, '')}`

test('the page has ten policies', () => {
  expect([...examples.keys()]).toEqual([
    'labels',
    'registry',
    'latest',
    'replicas',
    'owner',
    'exempt',
    'limits',
    'production',
    'hosts',
    'privileged',
  ])
})

test('the policy for labels requires labels', async () => {
  const { deploy } = await anExample('labels')
  expect(said(await deploy({ labels: { app: 'a' } }))).toBe('422 the labels app and team are required')
  expect(said(await deploy({ labels: { app: 'a', team: 'b' } }))).toBe('201 ')
})

test('the policy for registries refuses other registries', async () => {
  const { deploy } = await anExample('registry')
  expect(said(await deploy({ container: { image: 'docker.io/x:1' } }))).toBe('422 images of other registries: docker.io/x:1')
  expect(said(await deploy())).toBe('201 ')
})

test.each([
  ['x', 422],
  ['x:latest', 422],
  ['host:5000/x', 422],
  ['x:1', 201],
  ['host:5000/x:1', 201],
  ['x@sha256:00', 201],
])('the policy for image tags refuses latest: %s', async (image, status) => {
  const { deploy } = await anExample('latest')
  expect((await deploy({ container: { image } })).status).toBe(status)
})

test('the policy for replicas limits their number', async () => {
  const { deploy, namespace } = await anExample('replicas', { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } })
  expect(said(await deploy())).toContain('no params found')
  const limits = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'limits' }, data: { maxReplicas: '2' } }
  await created(api(), `/api/v1/namespaces/${namespace}/configmaps`, limits)
  expect(said(await deploy({ replicas: 3 }))).toBe(`422 at most 2 replicas are allowed in ${namespace}`)
  expect(said(await deploy({ replicas: 2 }))).toBe('201 ')
})

test('the policy for owners requires an owner', async () => {
  const { path } = await anExample('owner')
  await created(api(), path, deployment({ labels: { owner: 'a' } }))
  const owner = (value: string) => api().patch(`${path}/d`, { metadata: { labels: { owner: value, other: 'x' } } })
  expect(said(await owner('b'))).toBe('403 the label owner cannot be changed')
  expect(said(await owner('a'))).toBe('200 ')
})

test('the policy with exemptions skips exempt objects', async () => {
  const { deploy, namespace } = await anExample('exempt')
  expect(said(await deploy())).toBe('201 ')
  const rbac = 'rbac.authorization.k8s.io'
  const at = `/apis/${rbac}/v1/namespaces/${namespace}`
  const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['create'] }]
  await created(api(), `${at}/roles`, { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'deployer' }, rules })
  const subjects = [{ kind: 'User', name: 'alice', apiGroup: rbac }]
  const roleRef = { kind: 'Role', name: 'deployer', apiGroup: rbac }
  await created(api(), `${at}/rolebindings`, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'deployer' },
    subjects,
    roleRef,
  })
  await expect.poll(async () => said(await deploy({}, 'alice')), { timeout: 30_000 }).toBe('422 deployments are frozen')
})

test('the policy for limits requires limits', async () => {
  const { deploy } = await anExample('limits')
  const refused = '422 each container needs a memory limit of 2Gi at most'
  const memory = (limit: string) => ({ container: { resources: { limits: { memory: limit } } } })
  expect(said(await deploy())).toBe(refused)
  expect(said(await deploy(memory('3Gi')))).toBe(refused)
  expect(said(await deploy(memory('2048Mi')))).toBe('201 ')
})

test('the policy for production applies in production namespaces', async () => {
  const { path, namespace } = await anExample('production')
  await created(api(), path, deployment({}))
  const environment = (value: string) => api().patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { environment: value } } })
  await environment('production')
  await expect
    .poll(async () => said(await api().delete(`${path}/d?dryRun=All`)), { timeout: 30_000 })
    .toBe('403 deployments of production are not deleted')
  await environment('test')
  await expect.poll(async () => (await api().delete(`${path}/d?dryRun=All`)).status, { timeout: 30_000 }).toBe(200)
})

test('the policy for hosts refuses duplicates', async () => {
  const { namespace } = await anExample('hosts')
  const backend = { service: { name: 's', port: { number: 80 } } }
  const ingress = (host: string) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'i' },
    spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
  })
  const post = (host: string) => api().post(`/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses?dryRun=All`, ingress(host))
  expect(said(await post('a.other.example.com'))).toBe(`422 hosts must end with .${namespace}.example.com`)
  expect(said(await post(`a.${namespace}.example.com`))).toBe('201 ')
})

test('the policy for privileged containers refuses privileged containers', async () => {
  const { deploy } = await anExample('privileged')
  expect(said(await deploy({ container: { securityContext: { privileged: true } } }))).toBe('422 privileged containers are not allowed')
  expect(said(await deploy())).toBe('201 ')
})
