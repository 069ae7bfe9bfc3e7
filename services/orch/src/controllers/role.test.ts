import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration, type ResourceAddress } from '@orch/client'
import { controllerNames } from '@orch/controllers'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, domainLabel, namesOf, profiles } from '@orch/core/names'
import { bootstrapPolicy, controllersUser } from '@orch/core/rbac'
import { generateSigningKey, parseSigningKey, silentLog, systemChance, systemClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { everythingServed } from '../api/settings.ts'
import { openControllersReplica } from '../distributed/controllers.ts'
import { start } from '../start/start.ts'
import { catalogueOf } from '../surroundings.ts'
import { identityOf } from './open.ts'
import { readControllers } from './settings.ts'

const within = { timeout: 60_000, interval: 10 }

/** A server without controllers, and separate controllers as the user with their role. Warnings are collected. */
async function aServerWithControllersBeside(profile: (typeof profiles)[number]) {
  const folder = mkdtempSync(join(tmpdir(), 'controllers-role-'))
  const tokens = join(folder, 'tokens.csv')
  writeFileSync(tokens, `secret-token,${controllersUser},1\n`)
  const server = await start({ profile, controllers: [], flags: [`--token-auth-file=${tokens}`, '--enable-bootstrap-token-auth'] })
  const { server: url, certificateAuthority = '' } = await parseConfiguration(server.kubeconfig)
  const warnings: string[] = []
  const log = { ...silentLog, warn: (fields: object, text: string) => void warnings.push(`${text} ${JSON.stringify(fields)}`) }
  const key = generateSigningKey()
  const replica = await openControllersReplica(
    {
      trust: { tls: undefined, insecureTransport: true },
      hasProcessMetrics: false,
      configuration: { server: url, certificateAuthority, token: 'secret-token' },
      servers: [],
      controllers: readControllers({ controllers: ['*', 'tokencleaner', 'bootstrapsigner', 'workloads', 'nodes', '-bootstrap'] }),
      nodes: {
        ...{ monitorPeriodMs: 5_000, graceMs: undefined, startupGraceMs: 60_000, terminatedPodsMax: 1 },
        ...{ evictionRate: 0.1, secondaryEvictionRate: 0.01, largeZoneSize: 50, unhealthyShare: 0.55 },
      },
      leaderElect: true,
      impersonates: true,
      secretTokens: { signingKey: parseSigningKey(key), certificateAuthority },
    },
    { clock: systemClock, chance: systemChance, log, catalogue: catalogueOf(everythingServed(profile)) },
  )
  onTestFinished(async () => {
    await replica.stop()
    await server.stop()
    rmSync(folder, { recursive: true })
  })
  const names = namesOf(profile)
  const at = (group: string, plural: string, namespaced: boolean): ResourceAddress => ({ group, version: 'v1', plural, namespaced })
  return { client: server.client, names, at, warnings }
}

test.each(profiles)('under the profile %s the user of all controllers may act as the account of each', (profile) => {
  const names = namesOf(profile)
  const prefix = `system:serviceaccount:${names.systemNamespace}:`
  const accounts = controllerNames.map((name) => identityOf(names, name).name).filter((name) => name.startsWith(prefix))
  const role = bootstrapPolicy(names, 37).roles.find(({ metadata }) => metadata.name === controllersUser)
  const allowed = role?.rules?.find(({ verbs }) => verbs.includes('impersonate'))?.resourceNames ?? []
  expect(allowed).toEqual(expect.arrayContaining(accounts.map((name) => name.slice(prefix.length))))
})

test.each(profiles)(
  'under the profile %s every controller does its work with the role of their user',
  { timeout: 120_000 },
  async (profile) => {
    const { client, names, at, warnings } = await aServerWithControllersBeside(profile)
    const objects = (group: string, plural: string, namespaced = true) => client.resource(at(group, plural, namespaced))
    const [namespaces, secrets, maps] = [objects('', 'namespaces', false), objects('', 'secrets'), objects('', 'configmaps')]
    const definitions = objects(domainGroup(names, 'apiextensions'), 'customresourcedefinitions', false)
    const inTeam = { namespace: 'team' }
    const gone = (collection: typeof maps, name: string, where: { namespace?: string } = inTeam) =>
      expect
        .poll(
          () =>
            collection.get(name, where).then(
              () => 'there',
              (error: { code?: number }) => error.code,
            ),
          within,
        )
        .toBe(404)
    const make = (collection: typeof maps, kind: string, name: string, more: object = {}, apiVersion = 'v1') =>
      collection.create({ apiVersion, kind, metadata: { name, ...inTeam }, ...more } as ApiObject, inTeam)

    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } } as ApiObject)
    await expect
      .poll(() => objects('', 'serviceaccounts').list(inTeam), within)
      .toMatchObject({ items: [{ metadata: { name: 'default' } }] })
    await expect.poll(() => maps.list(inTeam), within).toMatchObject({ items: [{ metadata: { name: names.rootCertificateConfigMap } }] })

    await make(objects('', 'resourcequotas'), 'ResourceQuota', 'quota', { spec: { hard: { configmaps: '5' } } })
    await expect
      .poll(() => objects('', 'resourcequotas').get('quota', inTeam), within)
      .toMatchObject({ status: { used: { configmaps: '1' } } })

    const owner = await make(maps, 'ConfigMap', 'owner')
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
    await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned', ...inTeam, ownerReferences } } as ApiObject, inTeam)
    await maps.delete('owner', inTeam)
    await gone(maps, 'owned')

    const account = { [domainLabel(names, 'service-account.name')]: 'default' }
    const secret: ApiObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: domainLabel(names, 'service-account-token'),
      metadata: { name: 'token', ...inTeam, annotations: account },
    }
    await secrets.create(secret, inTeam)
    await expect.poll(() => secrets.get('token', inTeam), within).toMatchObject({ data: { token: expect.any(String) } })

    const group = 'things.example.com'
    const definition = {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', singular: 'thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    }
    const apiVersion = `${domainGroup(names, 'apiextensions')}/v1`
    await definitions.create({
      apiVersion,
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: definition,
    } as ApiObject)
    await make(objects(group, 'things'), 'Thing', 'one', {}, `${group}/v1`)
    await definitions.delete(`things.${group}`)
    await gone(definitions, `things.${group}`, {})

    const pods = objects('', 'pods')
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'img:1' }] } }
    const replicas = { spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template } }
    await make(objects('apps', 'replicasets'), 'ReplicaSet', 'web', replicas, 'apps/v1')
    await make(objects('', 'replicationcontrollers'), 'ReplicationController', 'old', { spec: { replicas: 1, template } })
    const rollout = {
      spec: { replicas: 1, selector: { matchLabels: { app: 'roll' } }, template: { ...template, metadata: { labels: { app: 'roll' } } } },
    }
    await make(objects('apps', 'deployments'), 'Deployment', 'roll', rollout, 'apps/v1')
    const once = { template: { spec: { restartPolicy: 'Never', ...template.spec } } }
    await make(objects('batch', 'jobs'), 'Job', 'task', { spec: once }, 'batch/v1')
    await expect
      .poll(
        async () => (await pods.list(inTeam)).items.map(({ metadata }) => metadata.generateName?.replace(/(roll-).*/, '$1')).sort(),
        within,
      )
      .toEqual(['old-', 'roll-', 'task-', 'web-'])
    const reasons = async () => (await objects('', 'events').list(inTeam)).items.map((event) => event['reason'])
    await expect.poll(reasons, within).toContain('FailedScheduling')
    await expect
      .poll(async () => (await reasons()).filter((reason) => reason !== 'FailedScheduling').sort(), within)
      .toEqual(['ScalingReplicaSet', 'SuccessfulCreate', 'SuccessfulCreate', 'SuccessfulCreate', 'SuccessfulCreate'])

    const claims = objects('', 'persistentvolumeclaims')
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await make(claims, 'PersistentVolumeClaim', 'claim', { spec })
    await claims.delete('claim', inTeam)
    await gone(claims, 'claim')

    const roles = objects(domainGroup(names, 'rbac.authorization'), 'clusterroles', false)
    const label = { [`${domainGroup(names, 'rbac.authorization')}/aggregate-to-view`]: 'true' }
    const rules = [{ verbs: ['get'], apiGroups: [group], resources: ['things'] }]
    const roleVersion = `${domainGroup(names, 'rbac.authorization')}/v1`
    await roles.create({ apiVersion: roleVersion, kind: 'ClusterRole', metadata: { name: 'more', labels: label }, rules } as ApiObject)
    await expect.poll(() => roles.get('view'), within).toMatchObject({ rules: expect.arrayContaining(rules) })

    await namespaces.delete('team')
    await gone(namespaces, 'team', {})
    expect(warnings.filter((text) => /forbidden|cannot/.test(text))).toEqual([])
  },
)
