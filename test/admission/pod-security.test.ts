import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Api, aName, anApi, created, sharedApi, until } from '../api/api.ts'
import { aFolder, anAuditedApi, aPolicy } from '../audit/audited.ts'
import { aPerson } from '../authorization/people.ts'

/** Authorization allows every request: admission makes each refusal here. */
const flags = ['--authorization-mode=AlwaysAllow']

const key = (word: string) => `pod-security.orch.io/${word}`

async function labelled(api: Api, labels: Record<string, string>): Promise<string> {
  const name = aName('ns')
  const keyed = Object.fromEntries(Object.entries(labels).map(([word, value]) => [key(word), value]))
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: keyed } })
  return withAccount(api, `/api/v1/namespaces/${name}`)
}

/** A Pod needs the account that a controller makes. The test makes the account if the controller has not. */
async function withAccount(api: Api, at: string): Promise<string> {
  await api.post(`${at}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } })
  return at
}

const privileged = { name: 'main', image: 'i:1', securityContext: { privileged: true } }
const pod = (name: string, container: object = privileged, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [container], ...more },
})
const detail = 'privileged (container "main" must not set securityContext.privileged=true)'

describe('without a configuration', () => {
  const shared = sharedApi({ flags })

  test('a namespace without labels allows everything', async () => {
    const at = await labelled(shared.api, {})
    expect((await shared.api.post(`${at}/pods`, pod('a'))).status).toBe(201)
  })

  test('a violation of the enforced level is refused, with every reason', async () => {
    const at = await labelled(shared.api, { enforce: 'baseline' })
    const answer = await shared.api.post(`${at}/pods`, pod('a', privileged, { hostPID: true }))
    expect(answer.status).toBe(403)
    expect(answer.body.message).toBe(
      `pods "a" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true), ${detail}`,
    )
    expect((await shared.api.get(`${at}/pods/a`)).status).toBe(404)
  })

  test('a violation of the warn level causes a warning', async () => {
    const at = await labelled(shared.api, { warn: 'baseline', 'warn-version': 'v1.24' })
    const answer = await shared.api.post(`${at}/pods`, pod('a'))
    expect(answer.status).toBe(201)
    expect(answer.headers.warning).toBe(`299 - "would violate PodSecurity \\"baseline:v1.24\\": ${detail.replaceAll('"', '\\"')}"`)
  })

  test('a workload with a violation causes a warning and is not refused', async () => {
    const at = await labelled(shared.api, { enforce: 'baseline', warn: 'baseline' })
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [privileged] } }
    const object = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { selector: { matchLabels: { app: 'a' } }, template },
    }
    const answer = await shared.api.post(`${at.replace('/api/v1', '/apis/apps/v1')}/deployments`, object)
    expect(answer.status).toBe(201)
    expect(answer.headers.warning).toContain('would violate PodSecurity')
  })

  test('an existing pod may change unchecked fields, and not its images', async () => {
    const at = await labelled(shared.api, {})
    await created(shared.api, `${at}/pods`, pod('a'))
    await shared.api.patch(at, { metadata: { labels: { [key('enforce')]: 'baseline' } } })
    expect((await shared.api.patch(`${at}/pods/a`, { metadata: { labels: { x: 'y' } } })).status).toBe(200)
    const image = await shared.api.patch(`${at}/pods/a`, [{ op: 'replace', path: '/spec/containers/0/image', value: 'i:2' }])
    expect(image.status).toBe(403)
    expect(image.body.message).toContain('violates PodSecurity "baseline:latest"')
  })

  test('a level that is raised applies to the next pod at once', async () => {
    const at = await labelled(shared.api, {})
    for (const level of ['restricted', 'privileged', 'restricted', 'privileged']) {
      await shared.api.patch(at, { metadata: { labels: { [key('enforce')]: level } } })
      const answer = await shared.api.post(`${at}/pods`, pod(aName('pod')))
      expect(answer.status).toBe(level === 'restricted' ? 403 : 201)
    }
  })

  test('labels that cannot be parsed are refused', async () => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: aName('ns'), labels: { [key('enforce')]: 'x' } } }
    const answer = await shared.api.post('/api/v1/namespaces', object)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toContain(
      'metadata.labels[pod-security.orch.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
    )
  })

  test('a stricter level warns about the existing pods that violate it', async () => {
    const at = await labelled(shared.api, {})
    for (const name of ['a', 'b', 'c']) await created(shared.api, `${at}/pods`, pod(name))
    await created(shared.api, `${at}/pods`, pod('fine', { name: 'main', image: 'i:1' }))
    const answer = await shared.api.patch(at, { metadata: { labels: { [key('enforce')]: 'baseline' } } })
    expect(answer.status).toBe(200)
    const namespace = at.split('/').at(-1)
    expect(answer.headers.warning).toBe(
      `299 - "existing pods in namespace \\"${namespace}\\" violate the new PodSecurity enforce level \\"baseline:latest\\"", ` +
        '299 - "a (and 2 other pods): privileged"',
    )
  })

  test('a null label counts as absent, as typed clients send it', async () => {
    const at = await labelled(shared.api, { enforce: 'restricted' })
    const nothing = { securityContext: null, volumes: null, initContainers: null, os: null, hostPID: null }
    const container = {
      name: 'main',
      image: 'i:1',
      ports: null,
      securityContext: { capabilities: null, seLinuxOptions: null, procMount: null },
    }
    const answer = await shared.api.post(`${at}/pods`, pod('a', container, nothing))
    expect(answer.status).toBe(403)
    expect(answer.body.message).toContain('violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false')
  })

  test('decisions are counted', async () => {
    const at = await labelled(shared.api, { enforce: 'restricted', 'enforce-version': 'v1.99' })
    await shared.api.post(`${at}/pods`, pod('a'))
    // Each gateway counts only the requests that it received.
    const labels =
      'decision="deny",policy_level="restricted",policy_version="future",mode="enforce",request_operation="create",resource="pod",subresource=""'
    const counted = await until(
      () => shared.api.get('/metrics'),
      ({ text }) => text.includes('policy_version="future"'),
    )
    expect(counted.text).toContain(`pod_security_evaluations_total{${labels}} 1`)
    expect(counted.text).toContain('pod_security_exemptions_total{request_operation="update",resource="controller",subresource=""} 0')
  })
})

test('the configuration has defaults and exemptions', async () => {
  const folder = aFolder()
  const file = join(folder, 'admission.yaml')
  const configuration = {
    apiVersion: 'pod-security.admission.config.orch.io/v1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline' },
    exemptions: { usernames: ['ann'], namespaces: ['tools'], runtimeClasses: ['vm'] },
  }
  const plugins = [{ name: 'PodSecurity', path: 'pod-security.yaml' }]
  writeFileSync(join(folder, 'pod-security.yaml'), JSON.stringify(configuration))
  writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins }))
  const api = await anApi({ flags: [...flags, `--admission-control-config-file=${file}`] })
  const at = await labelled(api, {})
  await created(api, '/apis/node.orch.io/v1/runtimeclasses', {
    apiVersion: 'node.orch.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'vm' },
    handler: 'vm',
  })
  const tools = await api.post('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'tools', labels: { [key('enforce')]: 'restricted' } },
  })
  expect(tools.headers.warning).toBe(
    '299 - "namespace \\"tools\\" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored"',
  )
  await withAccount(api, '/api/v1/namespaces/tools')
  expect((await api.post(`${at}/pods`, pod('a'))).status).toBe(403)
  expect((await api.post(`${at}/pods`, pod('b', privileged, { runtimeClassName: 'vm' }))).status).toBe(201)
  expect((await aPerson(api, 'ann').post(`${at}/pods`, pod('c'))).status).toBe(201)
  expect((await api.post('/api/v1/namespaces/tools/pods', pod('d'))).status).toBe(201)
})

test('each profile has different labels', async () => {
  const api = await anApi({ flags, profile: 'kubernetes' })
  const metadata = { name: aName('ns'), labels: { [key('enforce')]: 'baseline', 'pod-security.kubernetes.io/warn': 'baseline' } }
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata })
  const at = await withAccount(api, `/api/v1/namespaces/${metadata.name}`)
  const answer = await api.post(`${at}/pods`, pod('a'))
  expect(answer.status).toBe(201)
  expect(answer.headers.warning).toContain('would violate PodSecurity')
})

test('the audit log contains the enforced level, and violations of the audit level', async () => {
  const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', resources: [{ group: '', resources: ['pods'] }] }]), { flags })
  const at = await labelled(audited.api, { enforce: 'privileged', audit: 'baseline' })
  await created(audited.api, `${at}/pods`, pod('a'))
  const event = (await audited.events()).find(({ stage }) => stage === 'ResponseComplete')
  expect(event?.annotations).toMatchObject({
    [key('enforce-policy')]: 'privileged:latest',
    [key('audit-violations')]: `would violate PodSecurity "baseline:latest": ${detail}`,
  })
})
