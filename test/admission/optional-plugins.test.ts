import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Api, aName, aNamespace, anApi, created } from '../api/api.ts'

type Fields = Record<string, unknown>

const container = { name: 'c', image: 'i' }
const podsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`

function aPod(spec: Fields = {}, metadata: Fields = {}) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec: { containers: [container], ...spec } }
}

/** A server that has these plugins besides the default ones; the text configures the plugins. */
function serverWith(plugins: string, configuration?: string): Promise<Api> {
  const flags = [`--enable-admission-plugins=${plugins}`]
  return anApi({ flags: configuration === undefined ? flags : [...flags, `--admission-control-config-file=${aFile(configuration)}`] })
}

function aFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'admission-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'file.yaml'), text)
  return join(folder, 'file.yaml')
}

async function refusal(api: Api, path: string, object: unknown) {
  const { status, body } = await api.post(path, object)
  return [status, (body as Fields)['message']]
}

async function annotatedNamespace(api: Api, annotations: Fields): Promise<string> {
  const name = aName('ns')
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } })
  return name
}

describe('the list of plugins', () => {
  test('ADM-BI-18: may be in any order', async () => {
    const api = await serverWith('DenyServiceExternalIPs,AlwaysPullImages,AlwaysAdmit')
    const pod = await created(api, podsIn(await aNamespace(api)), aPod())
    expect(pod).toMatchObject({ spec: { containers: [{ imagePullPolicy: 'Always' }] } })
  })

  test.each([
    ['--enable-admission-plugins=Nobody', 'there is no admission plugin "Nobody" at level 1.37; expected some of AlwaysAdmit'],
    ['--disable-admission-plugins=Nobody', 'there is no admission plugin "Nobody"'],
    ['--enable-admission-plugins=EventRateLimit', 'EventRateLimit needs a Configuration of eventratelimit.admission.orch.io/v1alpha1'],
    ['--admission-control-config-file=/none', 'the file cannot be read (ENOENT)'],
  ])('%s is refused', async (flag, message) => {
    await expect(start({ flags: [flag] })).rejects.toThrow(message)
  })

  test.each([
    ['SecurityContextDeny', '1.30'],
    ['PersistentVolumeLabel', '1.31'],
    ['ValidatingAdmissionPolicy', '1.25'],
    ['ClusterTrustBundleAttest', '1.26'],
    ['MutatingAdmissionPolicy', '1.31'],
  ] as const)('%s is unknown at level %s', async (plugin, version) => {
    const starting = start({ flags: [`--disable-admission-plugins=${plugin}`], version })
    await expect(starting).rejects.toThrow(`there is no admission plugin "${plugin}" at level ${version}; expected some of`)
  })

  test('may not enable PersistentVolumeLabel if it is known', async () => {
    const flags = ['--enable-admission-plugins=PersistentVolumeLabel']
    await expect(start({ flags, version: '1.30' })).rejects.toThrow('the admission plugin PersistentVolumeLabel cannot be enabled')
  })

  test('may not both enable and disable a plugin', async () => {
    const flags = ['--enable-admission-plugins=Priority', '--disable-admission-plugins=Priority']
    await expect(start({ flags })).rejects.toThrow('the admission plugin Priority is both enabled and disabled')
  })

  test.each([
    ['kind: Other\napiVersion: v1', 'expected kind AdmissionConfiguration of apiserver.config.orch.io/v1 or apiserver.orch.io/v1alpha1'],
    ['kind: AdmissionConfiguration\napiVersion: apiserver.config.orch.io/v1\nplugin: []', 'plugin: there is no such field'],
    ['kind: AdmissionConfiguration\napiVersion: apiserver.config.orch.io/v1\nplugins: [{}]', 'plugins[0].name: expected the name'],
    ['kind: AdmissionConfiguration\napiVersion: apiserver.config.orch.io/v1\nplugins: [{name: Nobody}]', 'no admission plugin "Nobody"'],
    [
      'kind: AdmissionConfiguration\napiVersion: apiserver.config.orch.io/v1\nplugins: [{name: PodSecurity}, {name: PodSecurity}]',
      'plugins[1].name: there is another entry for PodSecurity',
    ],
    [
      'kind: AdmissionConfiguration\napiVersion: apiserver.config.orch.io/v1\nplugins: [{name: Priority, configuration: {a: 1}}]',
      'plugins: the admission plugin Priority takes no configuration',
    ],
    [
      'kind: AdmissionConfiguration\napiVersion: apiserver.config.orch.io/v1\nplugins: [{name: ResourceQuota, configuration: {kind: Pod}}]',
      'expected ResourceQuotaConfiguration of apiserver.config.orch.io/v1',
    ],
    ['a: [', 'the file is not YAML'],
  ])('ADM-BI-19: with a configuration file of %j is refused', async (text, message) => {
    await expect(start({ flags: [`--admission-control-config-file=${aFile(text)}`] })).rejects.toThrow(message)
  })
})

test('ADM-BI-19, FLAG-28: the file of the flag configures its plugin, and without the flag no file is read', async () => {
  const defaults = '{apiVersion: pod-security.admission.config.orch.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}'
  const file = aFile(
    `{apiVersion: apiserver.config.orch.io/v1, kind: AdmissionConfiguration, plugins: [{name: PodSecurity, configuration: ${defaults}}]}`,
  )
  const privileged = aPod({ containers: [{ ...container, securityContext: { privileged: true } }] })
  const statusWith = async (flags: readonly string[]) => {
    const api = await anApi({ flags })
    return (await api.post(podsIn(await aNamespace(api)), privileged)).status
  }
  expect(await statusWith([`--admission-control-config-file=${file}`])).toBe(403)
  expect(await statusWith([])).toBe(201)
})

test('a resource that may be used only under a quota is refused to a resize, too', async () => {
  const limited =
    '{kind: ResourceQuotaConfiguration, apiVersion: apiserver.config.orch.io/v1, limitedResources: [{resource: pods, matchContains: [requests.memory]}]}'
  const file = aFile(
    `{apiVersion: apiserver.config.orch.io/v1, kind: AdmissionConfiguration, plugins: [{name: ResourceQuota, configuration: ${limited}}]}`,
  )
  const api = await anApi({ flags: [`--admission-control-config-file=${file}`] })
  const requesting = (requests: Fields) => ({ containers: [{ ...container, resources: { requests } }] })
  const path = podsIn(await aNamespace(api))
  await created(api, path, aPod(requesting({ cpu: '1' })))
  const { status, body } = await api.patch(`${path}/p/resize`, { spec: requesting({ cpu: '1', memory: '1Gi' }) })
  expect([status, (body as Fields)['message']]).toEqual([403, 'pods "p" is forbidden: insufficient quota to consume: requests.memory'])
})

test('AlwaysDeny refuses every write except the bootstrap writes of the server', async () => {
  const api = await serverWith('AlwaysDeny')
  expect(await refusal(api, '/api/v1/namespaces', { metadata: { name: 'a' } })).toEqual([
    403,
    'namespaces "a" is forbidden: admission control is denying all modifications',
  ])
})

test('AlwaysAdmit admits every write', async () => {
  const api = await serverWith('AlwaysAdmit')
  expect((await api.post(podsIn(await aNamespace(api)), aPod())).status).toBe(201)
})

test('NamespaceAutoProvision: the first object in a namespace creates it', async () => {
  const api = await serverWith('NamespaceAutoProvision')
  const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })
  expect((await api.post('/api/v1/namespaces/none/secrets?dryRun=All', secret('s'))).status).toBe(404)
  await Promise.all(['a', 'b', 'c'].map((name) => created(api, '/api/v1/namespaces/none/secrets', secret(name))))
  expect((await api.get('/api/v1/namespaces/none')).status).toBe(200)
})

test('NamespaceExists: a create in an absent namespace is refused, without NamespaceLifecycle too', async () => {
  const api = await anApi({ flags: ['--enable-admission-plugins=NamespaceExists', '--disable-admission-plugins=NamespaceLifecycle'] })
  expect(await refusal(api, '/api/v1/namespaces/none/secrets', { metadata: { name: 's' } })).toEqual([404, 'namespaces "none" not found'])
})

test('ADM-BI-07, ADM-BI-08: SecurityContextDeny refuses elevated fields', async () => {
  const api = await anApi({ flags: ['--enable-admission-plugins=SecurityContextDeny', '--emulated-version=1.29'] })
  const path = podsIn(await aNamespace(api))
  const rows: readonly [Fields, string][] = [
    [{ supplementalGroups: [1] }, 'SupplementalGroups'],
    [{ seLinuxOptions: { level: 'a' } }, 'SELinuxOptions'],
    [{ runAsUser: 1 }, 'RunAsUser'],
    [{ fsGroup: 1 }, 'FSGroup'],
  ]
  for (const [securityContext, word] of rows) {
    const message = `pods "p" is forbidden: pod.Spec.SecurityContext.${word} is forbidden`
    expect(await refusal(api, path, aPod({ securityContext }))).toEqual([403, message])
  }
  const containers = [{ ...container, securityContext: { runAsUser: 1 } }]
  expect(await refusal(api, path, aPod({ containers }))).toEqual([403, 'pods "p" is forbidden: SecurityContext.RunAsUser is forbidden'])
  await created(api, path, aPod({ securityContext: { runAsNonRoot: true } }))
})

test('LimitPodHardAntiAffinityTopology: the host name is the only allowed topology', async () => {
  const api = await serverWith('LimitPodHardAntiAffinityTopology')
  const path = podsIn(await aNamespace(api))
  const affinity = (topologyKey: string) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: {} }] } },
  })
  expect(await refusal(api, path, aPod(affinity('zone')))).toEqual([
    403,
    'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key orch.io/hostname is allowed',
  ])
  expect((await api.post(path, aPod(affinity('orch.io/hostname')))).status).toBe(201)
})

test('DenyServiceExternalIPs: external IPs may be kept and removed, but not added', async () => {
  const api = await serverWith('DenyServiceExternalIPs')
  const path = `/api/v1/namespaces/${await aNamespace(api)}/services`
  const service = (spec: Fields) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { ports: [{ port: 80 }], ...spec },
  })
  expect(await refusal(api, path, service({ externalIPs: ['192.0.2.1'] }))).toEqual([
    403,
    'services "s" is forbidden: Use of external IPs is denied by admission control.',
  ])
  await created(api, path, service({}))
})

test('ExtendedResourceToleration: a Pod that requests an extended resource tolerates its taint', async () => {
  const api = await serverWith('ExtendedResourceToleration')
  const amounts = { 'example.com/gpu': '1', cpu: '1' }
  const containers = [{ ...container, resources: { requests: amounts, limits: amounts } }]
  expect(await created(api, podsIn(await aNamespace(api)), aPod({ containers }))).toMatchObject({
    spec: { tolerations: expect.arrayContaining([{ key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }]) },
  })
})

describe('PodNodeSelector', () => {
  const configuration = `
kind: AdmissionConfiguration
apiVersion: apiserver.config.orch.io/v1
plugins:
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig:
      clusterDefaultNodeSelector: kind=any
      listed: disk=ssd,kind=any
`
  test('adds the selector of the namespace, or of the cluster, and refuses conflicting selectors', async () => {
    const api = await serverWith('PodNodeSelector', configuration)
    const own = await annotatedNamespace(api, { 'scheduler.alpha.orch.io/node-selector': 'team=a' })
    expect(await created(api, podsIn(own), aPod({ nodeSelector: { x: 'y' } }))).toMatchObject({
      spec: { nodeSelector: { team: 'a', x: 'y' } },
    })
    expect(await refusal(api, podsIn(own), aPod({ nodeSelector: { team: 'b' } }))).toEqual([
      403,
      'pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector',
    ])
    expect(await created(api, podsIn(await aNamespace(api)), aPod())).toMatchObject({ spec: { nodeSelector: { kind: 'any' } } })
    await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'listed' } })
    expect(await refusal(api, podsIn('listed'), aPod({ nodeSelector: { disk: 'hdd' } }))).toEqual([
      403,
      'pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
    ])
  })

  test('ADM-CRED-18: reads the older format of the file, and a file for this plugin only', async () => {
    const selectors = 'podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: a=b }'
    const older = `kind: AdmissionConfiguration\napiVersion: apiserver.orch.io/v1alpha1\nplugins: [{name: PodNodeSelector, path: ${aFile(selectors)}}]`
    for (const text of [older, selectors]) {
      const api = await serverWith('PodNodeSelector', text)
      expect(await created(api, podsIn(await aNamespace(api)), aPod())).toMatchObject({ spec: { nodeSelector: { a: 'b' } } })
    }
  })
})

test('PodTolerationRestriction: Pods get the tolerations of their namespace, and only tolerations on its list', async () => {
  const api = await serverWith('PodTolerationRestriction')
  const text = (...keys: string[]) => JSON.stringify(keys.map((key) => ({ key, operator: 'Exists' })))
  const namespace = await annotatedNamespace(api, {
    'scheduler.alpha.orch.io/defaultTolerations': text('given'),
    'scheduler.alpha.orch.io/tolerationsWhitelist': text('given', 'node.orch.io/not-ready', 'node.orch.io/unreachable'),
  })
  expect(await created(api, podsIn(namespace), aPod())).toMatchObject({
    spec: { tolerations: expect.arrayContaining([{ key: 'given', operator: 'Exists' }]) },
  })
  expect(await refusal(api, podsIn(namespace), aPod({ tolerations: [{ key: 'other', operator: 'Exists' }] }))).toEqual([
    403,
    'pods "p" is forbidden: pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
  ])
})

test('EventRateLimit: Events beyond the configured rate are a 429', async () => {
  const api = await serverWith(
    'EventRateLimit',
    `
kind: AdmissionConfiguration
apiVersion: apiserver.config.orch.io/v1
plugins:
- name: EventRateLimit
  configuration:
    kind: Configuration
    apiVersion: eventratelimit.admission.orch.io/v1alpha1
    limits: [{ type: Namespace, qps: 1, burst: 2 }]
`,
  )
  const namespace = await aNamespace(api)
  const event = () => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: aName('event') },
    involvedObject: { kind: 'Pod', namespace, name: 'p' },
  })
  const path = `/api/v1/namespaces/${namespace}/events`
  const answers = await Promise.all(Array.from({ length: 60 }, () => api.post(path, event())))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]).toMatchObject({ body: { message: `Too many requests: limit reached on type Namespace for key ${namespace}` } })
  expect(answers.filter(({ status }) => status === 201).length).toBe(answers.length - refused.length)
})

test('a Pod without containers is refused by validation, with any plugins', async () => {
  const looking = 'ServiceAccount,AlwaysPullImages,PodTolerationRestriction,ExtendedResourceToleration,LimitPodHardAntiAffinityTopology'
  const api = await serverWith(`${looking},PodNodeSelector`)
  const namespace = await aNamespace(api)
  const core = { apiVersion: 'v1' }
  await api.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { ...core, kind: 'ServiceAccount', metadata: { name: 'default' } })
  const limits = [
    { type: 'Container', default: { memory: '1Gi' } },
    { type: 'Pod', max: { memory: '2Gi' } },
  ]
  const range = { ...core, kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits } }
  await created(api, `/api/v1/namespaces/${namespace}/limitranges`, range)
  for (const spec of [{}, { containers: null }, { containers: [] }, undefined]) {
    const pod = { ...core, kind: 'Pod', metadata: { name: 'p' }, ...(spec === undefined ? {} : { spec }) }
    const { status, body } = await api.post(podsIn(namespace), pod)
    expect([spec, status, (body as Fields)['message']]).toEqual([spec, 422, expect.stringContaining('spec.containers: Required value')])
  }
})

test('VAP-32: a configuration of the plugins of policies takes a folder of manifests alone', async () => {
  for (const name of ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy']) {
    const expectRefusal = async (configuration: string, message: string) => {
      const plugin = `{name: ${name}, configuration: ${configuration}}`
      const file = aFile(`kind: AdmissionConfiguration\napiVersion: apiserver.config.orch.io/v1\nplugins: [${plugin}]`)
      await expect(start({ flags: [`--admission-control-config-file=${file}`] })).rejects.toThrow(message)
    }
    const apiVersion = 'apiserver.config.orch.io/v1'
    await expectRefusal('{staticManifestsDir: /policies}', `expected ${name}Configuration of ${apiVersion}, got undefined of undefined`)
    await expectRefusal(
      `{kind: ${name}Configuration, apiVersion: ${apiVersion}, orchConfigFile: /client}`,
      'orchConfigFile: there is no such field; expected staticManifestsDir',
    )
  }
})
