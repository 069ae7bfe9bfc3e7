import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Api, aNamespace, anApi, created } from '../api/api.ts'

/** All plugins that can run together and allow requests; SecurityContextDeny exists up to 1.29. */
const plugins = [
  ...['AlwaysAdmit', 'NamespaceAutoProvision', 'NamespaceExists', 'SecurityContextDeny', 'LimitPodHardAntiAffinityTopology'],
  ...['NodeRestriction', 'AlwaysPullImages', 'PodNodeSelector', 'PodTolerationRestriction', 'EventRateLimit'],
  ...['ExtendedResourceToleration', 'OwnerReferencesPermissionEnforcement', 'DenyServiceExternalIPs'],
]
const configuration = `
kind: AdmissionConfiguration
apiVersion: apiserver.config.orch.io/v1
plugins:
- name: EventRateLimit
  configuration:
    kind: Configuration
    apiVersion: eventratelimit.admission.orch.io/v1alpha1
    limits: [{ type: Server, qps: 1, burst: 1 }]
`

async function anApiWithAll(): Promise<Api> {
  const folder = mkdtempSync(join(tmpdir(), 'admission-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'file.yaml')
  writeFileSync(file, configuration)
  return anApi({
    flags: ['--emulated-version=1.29', `--enable-admission-plugins=${plugins.join()}`, `--admission-control-config-file=${file}`],
  })
}

const limits = { cpu: '1' }
const objects: readonly (readonly [string, object])[] = [
  ['pods', { kind: 'Pod', spec: { containers: [{ name: 'c', image: 'i', resources: { limits } }] } }],
  ['services', { kind: 'Service', spec: { type: 'NodePort', ports: [{ port: 80 }] } }],
  [
    'persistentvolumeclaims',
    { kind: 'PersistentVolumeClaim', spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ],
  ['configmaps', { kind: 'ConfigMap' }],
  ['events', { kind: 'Event', involvedObject: { kind: 'Pod', name: 'p' } }],
]

describe('DRY-13: every built-in plugin takes part in a dry run without a lasting effect', () => {
  test('the answer has the changes of plugins, and nothing is stored or counted', async () => {
    const api = await anApiWithAll()
    const namespace = await aNamespace(api)
    const within = `/api/v1/namespaces/${namespace}`
    const hard = { pods: '1', services: '1', persistentvolumeclaims: '1', 'count/configmaps': '2', 'count/events': '1' }
    await created(api, `${within}/resourcequotas`, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } })
    for (const [plural, object] of [...objects, ...objects]) {
      const about = plural === 'events' ? { involvedObject: { kind: 'Pod', name: 'p', namespace } } : {}
      const body = { apiVersion: 'v1', metadata: { name: 'a' }, ...object, ...about }
      const answer = await api.post(`${within}/${plural}?dryRun=All`, body)
      expect([plural, answer.status, answer.status === 201 ? '' : answer.text]).toEqual([plural, 201, ''])
      expect((await api.get(`${within}/${plural}/a`)).status).toBe(404)
      if (plural === 'pods') {
        expect(answer.body).toMatchObject({
          spec: { priority: 0, containers: [{ imagePullPolicy: 'Always' }], tolerations: expect.any(Array) },
        })
      }
      if (plural === 'persistentvolumeclaims') expect(answer.body).toMatchObject({ metadata: { finalizers: ['orch.io/pvc-protection'] } })
    }
    const { body } = await api.get(`${within}/resourcequotas/q`)
    expect(body).toMatchObject({ status: { used: { pods: '0', services: '0', persistentvolumeclaims: '0', 'count/events': '0' } } })
  })

  test('the refusal is equal, and no namespace is created', async () => {
    const api = await anApiWithAll()
    const within = `/api/v1/namespaces/${await aNamespace(api)}`
    const pod = (spec: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    })
    const elevated = await api.post(`${within}/pods?dryRun=All`, pod({ securityContext: { runAsUser: 1 } }))
    expect([elevated.status, elevated.text]).toEqual([403, expect.stringContaining('RunAsUser is forbidden')])
    expect((await api.post('/api/v1/namespaces/none/pods?dryRun=All', pod({}))).status).toBe(404)
    expect((await api.get('/api/v1/namespaces/none')).status).toBe(404)
  })
})
