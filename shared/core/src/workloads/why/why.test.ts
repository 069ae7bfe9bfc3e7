import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import type { Pod } from '../pods.ts'
import type { Finding, World } from './finding.ts'
import { why } from './why.ts'

const empty: World = {
  names: namesOf('kubernetes'),
  deployments: [],
  replicaSets: [],
  replicationControllers: [],
  statefulSets: [],
  daemonSets: [],
  jobs: [],
  cronJobs: [],
  pods: [],
  claims: [],
  budgets: [],
  autoscalers: [],
  services: [],
  events: [],
}

const worldOf = (parts: object): World => ({ ...empty, ...parts })
const meta = (name: string, more: object = {}) => ({ name, namespace: 'ns', uid: `uid-${name}`, ...more })
const ownerOf = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: 'v1', kind, name, uid: `uid-${name}`, controller: true }],
})
const podOf = (parts: { metadata?: object; spec?: object; status?: object }): Pod =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: meta('p', parts.metadata),
    spec: { nodeName: 'n1', ...parts.spec },
    status: { phase: 'Pending', ...parts.status },
  }) as unknown as Pod
const container = (more: object) => ({ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, ...more })
const texts = (finding: Finding | undefined) => finding?.waits.map(({ cause, message }) => `${cause}: ${message}`)

describe('why a Pod is not ready', () => {
  test.each([
    {
      title: 'gates of scheduling',
      pod: { spec: { nodeName: '', schedulingGates: [{ name: 'a.io/b' }] } },
      waits: ['gate: these scheduling gates must be removed first: a.io/b'],
    },
    {
      title: 'a scheduler of another name',
      pod: { spec: { nodeName: '', schedulerName: 'mine' } },
      waits: ['schedule: it has no node, and the scheduler "mine" has not looked at it'],
    },
    { title: 'a node that has not begun', pod: {}, waits: ['node: the node n1 has not started its containers'] },
    {
      title: 'an image',
      pod: { status: { containerStatuses: [container({ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } })] } },
      waits: ['image: container main: ImagePullBackOff: no such image'],
    },
    {
      title: 'restarts',
      pod: {
        status: {
          containerStatuses: [
            container({
              restartCount: 3,
              state: { waiting: { reason: 'CrashLoopBackOff' } },
              lastState: { terminated: { exitCode: 1, reason: 'Error' } },
            }),
          ],
        },
      },
      waits: ['back-off: container main: CrashLoopBackOff; it ended 3 times, the last time with exit code 1 (Error)'],
    },
    {
      title: 'an init container',
      pod: {
        status: {
          initContainerStatuses: [container({ name: 'db', ready: true }), container({ name: 'wait', state: { running: {} } })],
          containerStatuses: [container({ state: { waiting: { reason: 'PodInitializing' } } })],
        },
      },
      waits: ['container: init container wait has not ended yet'],
    },
    {
      title: 'readiness gates',
      pod: {
        spec: { readinessGates: [{ conditionType: 'a.io/lb' }] },
        status: { phase: 'Running', containerStatuses: [container({ ready: true })] },
      },
      waits: ['gate: its readiness gate a.io/lb is not True'],
    },
    {
      title: 'finalizers',
      pod: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.io/f'] } },
      waits: ['deletion: it is being deleted; these finalizers must be removed first: a.io/f'],
    },
    {
      title: 'an eviction by the node',
      pod: { status: { phase: 'Failed', reason: 'Evicted', message: 'low on memory' } },
      waits: ['failed: Evicted: low on memory'],
    },
    { title: 'nothing', pod: { status: { phase: 'Succeeded' } }, waits: [] },
  ])('follows from its state: $title', ({ pod, waits }) => {
    expect(texts(why('Pod', 'p', worldOf({ pods: [podOf(pod)] })))).toEqual(waits)
  })
})

describe('the reason why an object waits', () => {
  const deployment = { metadata: meta('web', { generation: 2 }), spec: { replicas: 12 }, status: { observedGeneration: 2 } }

  test('is a change that no controller has observed', () => {
    const finding = why('Deployment', 'web', worldOf({ deployments: [{ ...deployment, status: { observedGeneration: 1 } }] }))
    expect(texts(finding)).toEqual([
      "controller: no controller has looked at generation 2; controllers of workloads are on with --controllers='*,workloads'",
    ])
  })

  test('is a deadline', () => {
    const conditions = [{ type: 'Progressing', status: 'False', message: 'ReplicaSet "web-1" has timed out progressing.' }]
    const finding = why('Deployment', 'web', worldOf({ deployments: [{ ...deployment, status: { observedGeneration: 2, conditions } }] }))
    expect(texts(finding)).toEqual(['deadline: ReplicaSet "web-1" has timed out progressing.'])
  })

  test('is a claim whose volume is deleted', () => {
    const claims = [{ metadata: meta('data'), spec: { volumeName: 'pv' }, status: { phase: 'Lost' } }]
    expect(texts(why('PersistentVolumeClaim', 'data', worldOf({ claims })))).toEqual(['claim: its volume pv is gone'])
  })

  test('is a Service whose selector matches nothing', () => {
    const services = [{ metadata: meta('web'), spec: { selector: { app: 'web' } } }]
    expect(texts(why('Service', 'web', worldOf({ services })))).toEqual(['selector: its selector app=web matches no Pod'])
  })

  test('shows ten different parts, and counts the ready parts and the rest', () => {
    const set = { metadata: meta('web-1', ownerOf('Deployment', 'web')), spec: { replicas: 14 }, status: { replicas: 14 } }
    const pods = Array.from({ length: 14 }, (_, index) =>
      podOf({
        metadata: { ...meta(`p${index}`), ...ownerOf('ReplicaSet', 'web-1') },
        status:
          index < 2
            ? { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
            : { containerStatuses: [container({ state: { waiting: { reason: `Reason${index}` } } })] },
      }),
    )
    const finding = why('Deployment', 'web', worldOf({ deployments: [deployment], replicaSets: [set], pods }))
    const [members] = finding?.parts ?? []
    expect(members?.parts).toHaveLength(10)
    expect(members).toMatchObject({ fine: { Pod: 2 }, more: 2 })
  })

  test('is an object that does not exist', () => {
    expect(why('Deployment', 'none', empty)).toBeUndefined()
    expect(why('toString', 'none', empty)).toBeUndefined()
  })
})
