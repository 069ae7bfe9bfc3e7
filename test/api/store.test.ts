import { join } from 'node:path'
import { loadConfiguration } from '@orch/client'
import { certificateMemory, silentLog, systemChance, systemClock } from '@orch/platform'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startServer } from '../../services/orch/src/server.ts'
import { readServer } from '../../services/orch/src/settings/up.ts'
import { readStartSettings } from '../../services/orch/src/start/start-settings.ts'
import { openLmdbStore } from '../../services/storage/src/index.ts'
import { type ServerProcess, startProcess } from '../e2e/server-process.ts'
import { Api, aNamespace, configMap, configMapsIn, created, namesOfItems, someConfigMaps } from './api.ts'
import { sampleFields, sampleName } from './sample-objects.ts'

/** A server in a separate process over a store on disk. */
async function openProcess(dataDir: string, flags: readonly string[] = []): Promise<{ api: Api; process: ServerProcess }> {
  // The store contains only objects that the test has created.
  const controllers = '--controllers=*,-serviceaccount,-root-ca-cert-publisher'
  const process = await startProcess([controllers, ...flags], { dataDir })
  const api = new Api([process.url], await loadConfiguration(join(dataDir, 'admin.conf')), async () => {})
  onTestFinished(() => api.stop())
  return { api, process }
}

async function killed({ process }: { process: ServerProcess }): Promise<void> {
  process.signal('SIGKILL')
  await process.exited
}

describe('a restart', () => {
  test('STORE-04, STORE-05, CHUNK-05, CHUNK-06, CHUNK-07, LIM-02, WATCH-18: after a kill or an orderly end keeps every object; a list continues from its token, and a watch from the last version', async () => {
    const dataDir = aFolder()
    let running = await openProcess(dataDir)
    const path = await someConfigMaps(running.api, 'a', 'b', 'c')
    const { body: page } = await running.api.get(`${path}?limit=1`)
    await running.api.patch(`${path}/a`, { data: { x: '1' } })
    await running.api.delete(`${path}/b`)
    const { body: before } = await running.api.get(path)
    const watched = await someConfigMaps(running.api, 'a')
    const { body: list } = await running.api.get(watched)
    await created(running.api, watched, configMap({ name: 'b' }))
    const isUnchanged = async () => {
      const { body: after } = await running.api.get(path)
      expect(after.items).toEqual(before.items)
      expect(Number(after.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(before.metadata.resourceVersion))
    }

    await killed(running)
    running = await openProcess(dataDir)
    await isUnchanged()
    const { status, body } = await running.api.get(`${path}?limit=5&continue=${page.metadata.continue}`)
    if (status === 200) {
      expect(namesOfItems(body)).toEqual(['b', 'c'])
      expect(body.metadata).toEqual({ resourceVersion: page.metadata.resourceVersion })
    } else expect({ status, reason: body['reason'] }).toEqual({ status: 410, reason: 'Expired' })
    await created(running.api, watched, configMap({ name: 'c' }))
    const watch = await running.api.watch(`${watched}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
    const events = await watch.take(2)
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(['ADDED b', 'ADDED c'])

    expect((await running.process.stop()).code).toBe(0)
    running = await openProcess(dataDir)
    await isUnchanged()
    const next = await created(running.api, path, configMap({ name: 'd' }))
    expect(Number(next.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion))
  })

  test('starts under a webhook that refuses all writes, so that its configuration can be removed', async () => {
    const dataDir = aFolder()
    let running = await openProcess(dataDir)
    const path = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations'
    await created(running.api, path, {
      apiVersion: 'admissionregistration.orch.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'broken' },
      webhooks: [
        {
          name: 'broken.example.com',
          clientConfig: { service: { namespace: 'default', name: 'absent' } },
          rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    await killed(running)
    // The other port changes the endpoints of the server's Service, which the webhook refuses.
    running = await openProcess(dataDir)
    expect((await running.api.post('/api/v1/namespaces/default/configmaps', configMap({ name: 'a' }))).status).toBe(500)
    expect((await running.api.delete(`${path}/broken`)).status).toBe(200)
  })

  test('EMV-21: at another level reads stored objects of each kind with the fields and defaults of that level', async () => {
    const directory = aFolder()
    const at = async (level: string) => {
      const flags = [`--emulated-version=${level}`, '--disable-admission-plugins=ServiceAccount']
      const server = await startServer({
        ...readServer(readStartSettings({ controllers: ['namespace'], flags })),
        store: await openLmdbStore({ directory, profile: 'orch' }),
        certificateFiles: certificateMemory(),
        clock: systemClock,
        chance: systemChance,
        log: silentLog,
      })
      const api = new Api([server.url], server.configuration, () => server.stop({ delayMs: 0, graceMs: 0 }))
      onTestFinished(() => api.stop())
      return api
    }
    const kindsOf = async (api: Api) => {
      const { groups } = (await api.get('/apis')).body as unknown as { groups: { preferredVersion: { groupVersion: string } }[] }
      const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]
      const lists = await Promise.all(
        versions.map(async (apiVersion) => {
          const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
          const { resources } = (await api.get(root)).body as unknown as {
            resources: { name: string; kind: string; namespaced: boolean }[]
          }
          return resources.filter(({ name }) => !name.includes('/')).map((one) => ({ ...one, apiVersion, root }))
        }),
      )
      return lists.flat()
    }
    const all = async (api: Api, paths: readonly string[]) =>
      new Map(await Promise.all(paths.map(async (path) => [path, await api.get(path)] as const)))

    const older = await at('1.25')
    const namespace = await aNamespace(older)
    const paths: string[] = []
    for (const { name: plural, kind, namespaced, apiVersion, root } of await kindsOf(older)) {
      const fields = sampleFields(kind, apiVersion, { domain: 'orch.io', namespace })
      // An Event of the other group is the same object, and level 1.37 has no beta versions.
      if (fields === undefined || apiVersion === 'events.orch.io/v1' || apiVersion.includes('beta')) continue
      const path = `${root}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`
      const name = sampleName(kind) ?? 'sample'
      expect({ path, status: (await older.post(path, { apiVersion, kind, metadata: { name }, ...fields })).status }).toEqual({
        path,
        status: 201,
      })
      paths.push(`${path}/${name}`)
    }
    expect(paths.length).toBeGreaterThan(40)
    const before = await all(older, paths)
    await older.stop()
    const newer = await at('1.37')
    const job = `/apis/batch/v1/namespaces/${namespace}/jobs/sample`
    expect((await newer.get(job)).body['spec']).toMatchObject({ podReplacementPolicy: 'TerminatingOrFailed' })
    for (const [path, { status }] of await all(newer, paths)) expect({ path, status }).toEqual({ path, status: 200 })
    const policy = { podReplacementPolicy: 'Failed' }
    expect((await newer.patch(job, { spec: policy })).body['spec']).toMatchObject(policy)
    await newer.stop()
    for (const [path, { body }] of await all(await at('1.25'), paths)) {
      if (path === job) expect(body['spec']).not.toHaveProperty('podReplacementPolicy')
      else expect(body).toEqual(before.get(path)?.body)
    }
  })

  test('STORE-01, STORE-03, STORE-04, STORE-05: keeps all acknowledged writes, which clients made by POST, PUT, PATCH and DELETE over HTTP', async () => {
    const dataDir = aFolder()
    const first = await openProcess(dataDir)
    const path = configMapsIn(await aNamespace(first.api))
    const made = await created(first.api, path, configMap({ name: 'a' }))
    const codes = [
      (await first.api.get(`${path}/a`)).status,
      (await first.api.put(`${path}/a`, { ...made, data: { x: '1' } })).status,
      (await first.api.patch(`${path}/a`, { data: { y: '2' } })).status,
      (await first.api.delete(`${path}/a`)).status,
      (await first.api.get(`${path}/a`)).status,
    ]
    expect(codes).toEqual([200, 200, 200, 200, 404])

    const controllers = '/api/v1/namespaces/default/replicationcontrollers'
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const controller = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'a' }, spec: { template } }
    await created(first.api, controllers, controller)
    expect((await first.api.get(`${controllers}/a`)).body).toMatchObject({ spec: { replicas: 1, selector: { app: 'a' } } })
    const refused = { ...controller, metadata: { name: 'b' }, spec: { replicas: -1, template } }
    expect((await first.api.post(controllers, refused)).status).toBe(422)
    expect((await first.api.get(`${controllers}/b`)).status).toBe(404)

    const acknowledged: string[] = []
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let at = 0; ; at++) {
        const name = `m-${writer}-${at}`
        const answer = await first.api.post(path, configMap({ name })).catch(() => undefined)
        if (answer?.status !== 201) return
        acknowledged.push(name)
        if (acknowledged.length === 200) first.process.signal('SIGKILL')
      }
    })
    await Promise.all(writers)
    await first.process.exited
    const { api } = await openProcess(dataDir)
    const names = new Set(namesOfItems((await api.get(path)).body))
    expect(acknowledged.length).toBeGreaterThanOrEqual(200)
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([])
  })
})
