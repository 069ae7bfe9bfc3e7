import { virtualClock } from 'orch'
import { describe, expect, test } from 'vitest'
import { CtlServer } from './run-ctl.ts'

const clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
const shared = new CtlServer(() => ({ clock, controllers: ['*', 'workloads'] }))
const { ctl } = shared

const container = { name: 'main', image: 'img:1' }
const template = (spec: object = {}) => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [container], ...spec } })
const selector = { matchLabels: { app: 'web' } }

async function create(apiVersion: string, kind: string, spec: object, name = 'web'): Promise<void> {
  await shared.server.client.objects.create({ apiVersion, kind, metadata: { name, namespace: 'default' }, spec })
  await clock.advance(1000)
}

const writePodStatus = async (name: string, status: object): Promise<void> => {
  await shared.server.client.request({
    method: 'PATCH',
    path: `/api/v1/namespaces/default/pods/${name}/status`,
    body: { status },
    contentType: 'application/merge-patch+json',
  })
  await clock.advance(1000)
}

const podNames = async (): Promise<string[]> => {
  const { out } = await ctl(['get', 'pods', '-o', 'name'])
  return out
    .trim()
    .split('\n')
    .map((line) => line.replace('pod/', ''))
}

const unscheduled = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message: '0/1 nodes are available: 1 Insufficient cpu.',
}
const bind = (pod: string) =>
  shared.server.client.request({
    method: 'POST',
    path: `/api/v1/namespaces/default/pods/${pod}/binding`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: pod }, target: { kind: 'Node', name: 'n1' } },
  })

describe('orchctl why', () => {
  test('shows a Deployment that waits for Pods without a node, with equal reasons in one line', async () => {
    await create('apps/v1', 'Deployment', { replicas: 3, selector, template: template() })
    for (const name of await podNames()) await writePodStatus(name, { conditions: [unscheduled] })
    const { out, code } = await ctl(['why', 'deployment/web'])
    const [set = ''] = (await ctl(['get', 'rs', '-o', 'name'])).out.trim().split('\n')
    expect(out.replace(/(Pod web-\w+-)\w+/, '$1X')).toBe(
      [
        'Deployment web: 0 of 3 available',
        `  ReplicaSet ${set.replace(/.*\//, '')}: 0 of 3 ready`,
        `    Pod ${set.replace(/.*\//, '')}-X: Pending, and 2 more for the same reasons`,
        '      schedule: 0/1 nodes are available: 1 Insufficient cpu.',
        '',
      ].join('\n'),
    )
    expect(code).toBe(0)
  })

  test('shows a quota that refuses Pods as the reason of the ReplicaSet', async () => {
    await create('v1', 'ResourceQuota', { hard: { pods: '0' } }, 'none')
    await create('apps/v1', 'Deployment', { selector, template: template() })
    expect((await ctl(['why', 'deploy', 'web'])).out).toContain('    quota: pods "web-')
  })

  test('shows a paused rollout', async () => {
    await create('apps/v1', 'Deployment', { paused: true, replicas: 0, selector, template: template() })
    expect((await ctl(['why', 'deployment/web'])).out).toBe('Deployment web: 0 of 0 available\n  paused: its rollout is paused\n')
  })

  test('shows a StatefulSet that waits for its first Pod, and its probe with an Event', async () => {
    await create('apps/v1', 'StatefulSet', { replicas: 2, serviceName: 'web', selector, template: template() })
    await bind('web-0')
    await writePodStatus('web-0', { phase: 'Running', containerStatuses: [status({ started: true, state: { running: {} } })] })
    const { metadata } = await shared.server.client.request<{ metadata: { uid: string } }>({
      method: 'GET',
      path: '/api/v1/namespaces/default/pods/web-0',
    })
    await shared.server.client.objects.create({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'web-0.1', namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'web-0', namespace: 'default', uid: metadata.uid },
      type: 'Warning',
      reason: 'Unhealthy',
      message: 'Readiness probe failed: HTTP probe failed with statuscode: 503',
    })
    expect((await ctl(['why', 'sts/web'])).out).toBe(
      [
        'StatefulSet web: 0 of 2 ready',
        '  order: the next Pod comes when web-0 is ready, by the order OrderedReady',
        '  Pod web-0: Running, not ready',
        '    probe: container main runs and is not ready: Readiness probe failed: HTTP probe failed with statuscode: 503',
        '',
      ].join('\n'),
    )
  })

  test('shows a suspended Job, and a failed Job', async () => {
    await create('batch/v1', 'Job', { suspend: true, template: template({ restartPolicy: 'Never' }) }, 'later')
    await create('batch/v1', 'Job', { backoffLimit: 0, template: template({ restartPolicy: 'Never' }) }, 'once')
    const [pod = ''] = await podNames()
    await bind(pod)
    await writePodStatus(pod, { phase: 'Failed', containerStatuses: [status({ state: { terminated: { exitCode: 7, reason: 'Error' } } })] })
    expect((await ctl(['why', 'job/later', 'job/once'])).out.replaceAll(pod, 'POD')).toBe(
      [
        'Job later: 0 of 1 succeeded, 0 active, 0 failed',
        '  paused: it is suspended',
        '',
        'Job once: failed',
        '  failed: Job has reached the specified backoff limit',
        '  Pod POD: Failed',
        '    failed: container main ended with exit code 7 (Error)',
        '',
      ].join('\n'),
    )
  })

  test('lists the causes by name in JSON', async () => {
    await create('v1', 'PersistentVolumeClaim', claim, 'data')
    await create('v1', 'Pod', { ...template({ volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] }).spec }, 'p')
    const { out } = await ctl(['why', 'pod/p', '-o', 'json'])
    expect(JSON.parse(out)).toEqual({
      kind: 'Pod',
      name: 'p',
      namespace: 'default',
      state: 'Pending',
      waits: [{ cause: 'schedule', message: 'it has no node, and the scheduler "default-scheduler" has not looked at it' }],
      parts: [
        {
          kind: 'PersistentVolumeClaim',
          name: 'data',
          namespace: 'default',
          state: 'Pending',
          waits: [{ cause: 'claim', message: 'ProvisioningFailed: storageclass.storage.k8s.io "fast" not found' }],
          parts: [],
        },
      ],
    })
  })

  test('lists budgets that block Pods and autoscalers that cannot scale below the object', async () => {
    await create('policy/v1', 'PodDisruptionBudget', { minAvailable: 1, selector }, 'keep')
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
    await create('autoscaling/v2', 'HorizontalPodAutoscaler', { maxReplicas: 3, scaleTargetRef }, 'more')
    await create('apps/v1', 'Deployment', { replicas: 1, selector, template: template() })
    await clock.advance(30_000)
    const { out } = await ctl(['why', 'deployment/web'])
    expect(out).toContain('  HorizontalPodAutoscaler more: ')
    expect(out).toContain('    budget: it allows no eviction: 0 of 1 Pods are healthy, and 1 must be')
  })

  test('refuses a kind without explanations, an absent object, and a missing name, each with its reason', async () => {
    expect((await ctl(['why', 'configmap/a'])).error).toMatch(/^error: why configmaps: must be one of these kinds: CronJob, /)
    expect((await ctl(['why', 'pod/none'])).error).toBe('Error from server (NotFound): pods "none" not found\n')
    expect((await ctl(['why', 'pods'])).error).toBe('error: objects must be named: why resource name\n')
  })
})

const claim = { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } }

function status(more: object): object {
  return { name: 'main', image: 'img:1', imageID: '', ready: false, restartCount: 0, ...more }
}
