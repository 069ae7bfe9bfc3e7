import { describe, expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const template: Body = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const selector: Body = { matchLabels: { app: 'a' } }
const workload: Body = { metadata: { name: 'w', namespace: 'n' }, spec: { replicas: 2, selector, template } }
const spec = (fields: Body): Body => ({ ...workload, spec: { ...(workload['spec'] as Body), ...fields } })

const revision: Body = { metadata: { name: 'r', namespace: 'n' }, data: { a: 1 }, revision: 1 }
const podTemplate: Body = { metadata: { name: 't', namespace: 'n' }, template }
const controller: Body = { metadata: { name: 'c', namespace: 'n' }, spec: { replicas: 1, selector: { app: 'a' }, template } }

const deployment = 'apps/v1.Deployment'
const replicaSet = 'apps/v1.ReplicaSet'
const statefulSet = 'apps/v1.StatefulSet'
const daemonSet = 'apps/v1.DaemonSet'
const controllerRevision = 'apps/v1.ControllerRevision'

const notSelected =
  'spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`'

type Row = readonly [type: string, name: string, body: Body, ...expected: string[]]

/** Names the cells of a row; the last ones are the expected errors. */
const toCase = ([type, name, body, ...expected]: Row) => ({ type, name, body, expected })

/** Errors of a selector and a template, which several kinds share. */
const shared: readonly Row[] = [deployment, replicaSet, statefulSet, daemonSet].flatMap((type): Row[] => {
  const what = { [statefulSet]: 'statefulset', [daemonSet]: 'daemonset' }[type] ?? 'deployment'
  const owner = { [statefulSet]: 'StatefulSet', [daemonSet]: 'DaemonSet' }[type] ?? 'ReplicaSet'
  return [
    [type, 'a sound one', workload],
    [type, 'no selector', spec({ selector: undefined }), ...(type === daemonSet ? [] : ['spec.selector: Required value']), notSelected],
    [
      type,
      'an empty selector',
      spec({ selector: {} }),
      `spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for ${what}`,
    ],
    [
      type,
      'a template with empty labels',
      withChange(workload, 'spec/template/metadata/labels', {}),
      'spec.template.metadata.labels: Invalid value: map[string]string{}: `selector` does not match template `labels`',
    ],
    [type, 'a selector of others', spec({ selector: { matchLabels: { app: 'b' } } }), notSelected],
    [
      type,
      'an annotation that is no number',
      withChange(workload, 'spec/template/metadata/annotations', { 'controller.orch.io/pod-deletion-cost': 'x' }),
      'spec.template.annotations[controller.orch.io/pod-deletion-cost]: Invalid value: "x": must be a 32bit integer',
    ],
    [
      type,
      'Pods that end',
      withChange(workload, 'spec/template/spec/restartPolicy', 'Never'),
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ],
    [
      type,
      'Pods with a deadline',
      withChange(workload, 'spec/template/spec/activeDeadlineSeconds', 5),
      `spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ${owner} is not Supported`,
    ],
    [
      type,
      'seconds below nothing',
      spec({ minReadySeconds: -1 }),
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
    ],
  ]
})

/** Errors of a template's spec, for all kinds except StatefulSet. */
const ofTemplates: readonly Row[] = [deployment, replicaSet, daemonSet].flatMap((type): Row[] => [
  [type, 'no container', withChange(workload, 'spec/template/spec/containers', []), 'spec.template.spec.containers: Required value'],
  [
    type,
    'ephemeral containers',
    withChange(workload, 'spec/template/spec/ephemeralContainers', [{ name: 'e', image: 'i' }]),
    'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
  ],
  [
    type,
    'a disk that several would write',
    withChange(workload, 'spec/template/spec/volumes', [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }]),
    'spec.template.spec.volumes[0].gcePersistentDisk.readOnly: Invalid value: false: must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only',
  ],
])

const unreadable: Body = { matchExpressions: [{ key: 'app', operator: 'Is' }] }
const unreadableSelector =
  'v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"app", Operator:"Is", Values:[]string(nil)}}}'
const noOperator = 'spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator'
const endsToo = withChange(spec({ selector: unreadable }), 'spec/template/spec/restartPolicy', 'Never')
const ends = 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'

/** An invalid selector hides errors of the template, differently per kind. */
const unread: readonly Row[] = [
  [
    deployment,
    'a selector that cannot be read',
    endsToo,
    noOperator,
    `spec.selector: Invalid value: ${unreadableSelector}: invalid label selector`,
  ],
  [
    replicaSet,
    'a selector that cannot be read',
    endsToo,
    noOperator,
    `spec.selector: Invalid value: ${unreadableSelector}: invalid label selector`,
  ],
  [statefulSet, 'a selector that cannot be read', endsToo, noOperator, `spec.selector: Invalid value: ${unreadableSelector}`, ends],
  [daemonSet, 'a selector that cannot be read', endsToo, noOperator, ends],
]

const rolling = (fields: Body): Body => spec({ strategy: { type: 'RollingUpdate', rollingUpdate: fields } })
const updating = (updateStrategy: Body): Body => spec({ updateStrategy })

const own: readonly Row[] = [
  [deployment, 'fewer than none', spec({ replicas: -1 }), 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  [
    deployment,
    'another strategy',
    spec({ strategy: { type: 'X' } }),
    'spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}: supported values: "Recreate", "RollingUpdate"',
  ],
  [
    deployment,
    'another strategy that rolls',
    spec({ strategy: { type: 'X', rollingUpdate: { maxSurge: 1 } } }),
    'spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDeployment)(0xc000000000)}: supported values: "Recreate", "RollingUpdate"',
  ],
  [
    deployment,
    'recreation does not roll',
    spec({ strategy: { type: 'Recreate', rollingUpdate: {} } }),
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ],
  [
    deployment,
    'nothing may move',
    rolling({ maxSurge: 0, maxUnavailable: 0 }),
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0',
  ],
  [
    deployment,
    'more than all',
    rolling({ maxUnavailable: '101%' }),
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
  ],
  [
    deployment,
    'no share',
    rolling({ maxSurge: 'x' }),
    `spec.strategy.rollingUpdate.maxSurge: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"x"}: a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
  ],
  [
    deployment,
    'too short a deadline',
    spec({ progressDeadlineSeconds: 5, minReadySeconds: 5 }),
    'spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds',
  ],
  [
    statefulSet,
    'no such management',
    spec({ podManagementPolicy: 'X' }),
    `spec.podManagementPolicy: Invalid value: "X": must be 'OrderedReady' or 'Parallel'`,
  ],
  [
    statefulSet,
    'a partition below nothing',
    updating({ type: 'RollingUpdate', rollingUpdate: { partition: -1 } }),
    'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    statefulSet,
    'nothing rolls on delete',
    updating({ type: 'OnDelete', rollingUpdate: { partition: 1 } }),
    `spec.updateStrategy.rollingUpdate: Invalid value: apps.RollingUpdateStatefulSetStrategy{Partition:1, MaxUnavailable:(*intstr.IntOrString)(nil)}: only allowed for updateStrategy 'RollingUpdate'`,
  ],
  [
    statefulSet,
    'another strategy',
    updating({ type: 'X' }),
    `spec.updateStrategy: Invalid value: apps.StatefulSetUpdateStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(nil)}: must be 'RollingUpdate' or 'OnDelete'`,
  ],
  ...['0', '5x'].map(
    (text): Row => [
      statefulSet,
      `none at a time, as ${text}`,
      updating({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: text } }),
      `spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"${text}"}: a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
      `spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"${text}"}: cannot be 0`,
    ],
  ),
  [statefulSet, 'a template whose Pods are refused', withChange(workload, 'spec/template/spec/containers', [])],
  [
    statefulSet,
    'a claim of the set can be mounted',
    {
      ...spec({
        template: { ...template, spec: { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'd', mountPath: '/d' }] }] } },
        volumeClaimTemplates: [
          { metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
        ],
      }),
    },
  ],
  [
    daemonSet,
    'another strategy',
    updating({ type: 'X' }),
    'spec.updateStrategy: Unsupported value: apps.DaemonSetUpdateStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}: supported values: "RollingUpdate", "OnDelete"',
  ],
  [
    daemonSet,
    'nothing may move',
    updating({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } }),
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  ],
  [
    daemonSet,
    'both at once',
    updating({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } }),
    'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: intstr.IntOrString{Type:0, IntVal:1, StrVal:""}: may not be set when maxUnavailable is non-zero',
  ],
  [controllerRevision, 'a sound one', revision],
  [controllerRevision, 'no data', withChange(revision, 'data', undefined), 'data: Required value: data is mandatory'],
  [
    controllerRevision,
    'a number below nothing',
    withChange(revision, 'revision', -1),
    'revision: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['core/v1.PodTemplate', 'a sound one', podTemplate],
  [
    'core/v1.PodTemplate',
    'no container',
    withChange(podTemplate, 'template/spec/containers', []),
    'template.spec.containers: Required value',
  ],
  [
    'core/v1.PodTemplate',
    'a name that is none',
    withChange(podTemplate, 'template/spec/nodeName', 'A'),
    expect.stringMatching(/^template\.spec\.nodeName: Invalid value: "A": a lowercase RFC 1123 subdomain/) as string,
  ],
  ['core/v1.ReplicationController', 'a sound one', controller],
  ['core/v1.ReplicationController', 'KIND-RC-04: a selector of others', withChange(controller, 'spec/selector', { app: 'b' }), notSelected],
  [
    'core/v1.ReplicationController',
    'a mount of nothing',
    withChange(controller, 'spec/template/spec/containers/0', { name: 'c', image: 'i', volumeMounts: [{ name: 'x', mountPath: '/x' }] }),
    'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "x"',
  ],
]

describe('a workload', () => {
  test.each([...shared, ...ofTemplates, ...unread, ...own].map(toCase))(
    'has the expected errors as $type: $name',
    ({ type, body, expected }) => {
      expect(problemsOf(type, body)).toEqual(expected)
    },
  )
})

const otherSelector = withChange(spec({ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }), 'spec/replicas', 2)
const immutable =
  'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"app", Operator:"Exists", Values:[]string(nil)}}}: field is immutable'

const changes: readonly Row[] = [
  [deployment, 'more replicas', spec({ replicas: 5 })],
  [deployment, 'not the selector', otherSelector, immutable],
  [replicaSet, 'not the selector', otherSelector, immutable],
  [daemonSet, 'not the selector', otherSelector, immutable],
  [statefulSet, 'more replicas', spec({ replicas: 5 })],
  [
    statefulSet,
    'not the service',
    spec({ serviceName: 's' }),
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  ],
]

describe('the mutable fields of a workload', () => {
  test.each(changes.map(toCase))('are checked for $type: $name', ({ type, body, expected }) => {
    expect(problemsOf(type, body, { live: workload })).toEqual(expected)
  })

  test('exclude the data of a revision', () => {
    const changed = withChange(revision, 'data', { a: 2 })
    expect(problemsOf(controllerRevision, changed, { live: revision, level: 34 })).toEqual([
      'data: Invalid value: {"a":2}: field is immutable',
    ])
    expect(problemsOf(controllerRevision, changed, { live: revision })).toEqual([
      'data: Invalid value: runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, Raw:[]uint8{0x7b, 0x22, 0x61, 0x22, 0x3a, 0x32, 0x7d}, ContentEncoding:"", ContentType:"application/json"}: field is immutable',
    ])
  })
})

const counted = (status: Body): Body => ({ ...workload, status })

const ofStatus: readonly Row[] = [
  [deployment, 'counts that fit', counted({ replicas: 2, readyReplicas: 2, availableReplicas: 1, updatedReplicas: 2 })],
  [
    deployment,
    'more updated than there are',
    counted({ replicas: 1, updatedReplicas: 2 }),
    'status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas',
  ],
  [
    deployment,
    'more available than ready',
    counted({ replicas: 2, readyReplicas: 1, availableReplicas: 2 }),
    'status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
  ],
  [deployment, 'collisions are not forgotten', counted({}), 'status.collisionCount: Invalid value: 0: cannot be decremented'],
  [
    replicaSet,
    'more ready than there are',
    counted({ replicas: 1, readyReplicas: 2 }),
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
  ],
  [
    statefulSet,
    'fewer than none',
    counted({ replicas: -1, collisionCount: 1 }),
    'status.replicas: Invalid value: -1: must be greater than or equal to 0',
    ...['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'].map(
      (name) => `status.${name}: Invalid value: 0: cannot be greater than status.replicas`,
    ),
  ],
  [
    daemonSet,
    'fewer than none',
    counted({ numberReady: -1, collisionCount: 1 }),
    'status.numberReady: Invalid value: -1: must be greater than or equal to 0',
  ],
]

describe('the status of a workload', () => {
  test.each(ofStatus.map(toCase))('has the expected errors as $type: $name', ({ type, name, body, expected }) => {
    const live = {
      ...workload,
      status: {
        replicas: 1,
        ...(name.includes('collisions') || 'collisionCount' in (body['status'] as Body) ? { collisionCount: 1 } : {}),
      },
    }
    expect(problemsOf(type, body, { live, part: 'status' })).toEqual(expected)
  })
})

test.each([
  ['-3', ['spec.rollback.version: Invalid value: -3: must be greater than or equal to 0']],
  ['3', []],
])('a Deployment rolled back to revision %s by an older version is validated with the field rollbackTo', (revision, problems) => {
  const annotated = withChange(workload, 'metadata/annotations', { 'deprecated.deployment.rollback.to': revision })
  expect(problemsOf(deployment, annotated)).toEqual(problems)
})

const sets: Body = spec({ serviceName: 's', ordinals: { start: 1 } })
const others = (listed: string): string => `spec: Forbidden: updates to statefulset spec for fields other than ${listed} are forbidden`

const changesByLevel: readonly (readonly [level: number, fields: Body, ...expected: string[]])[] = [
  [
    26,
    { serviceName: 't' },
    others("'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'"),
  ],
  [
    36,
    { serviceName: 't' },
    others(
      "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'",
    ),
  ],
  [
    32,
    { revisionHistoryLimit: 3 },
    others("'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'"),
  ],
  [33, { revisionHistoryLimit: 3, ordinals: { start: 2 } }],
  [37, { serviceName: 't' }, 'spec.serviceName: Invalid value: "t": field is immutable'],
  [37, { podManagementPolicy: 'Parallel' }, 'spec.podManagementPolicy: Invalid value: "Parallel": field is immutable'],
]

test.each(changesByLevel.map(([level, fields, ...expected]) => ({ level, fields, expected })))(
  'TODAY-SET-01: at level 1.$level a change of $fields of a StatefulSet has the message of that release',
  ({ level, fields, expected }) => {
    const changed = { ...sets, spec: { ...(sets['spec'] as Body), ...fields } }
    expect(problemsOf(statefulSet, changed, { level, live: sets })).toEqual(expected)
  },
)

test('TODAY-SET-01: serviceName is a DNS label for new StatefulSets, from 1.33 on', () => {
  const wrong = spec({ serviceName: 'A_b' })
  expect(problemsOf(statefulSet, wrong, { level: 32 })).toEqual([])
  expect(problemsOf(statefulSet, wrong, { level: 33 })).toEqual([expect.stringContaining('a lowercase RFC 1123 label must consist of')])
  expect(problemsOf(statefulSet, wrong, { level: 33, live: wrong })).toEqual([])
})

test('a StatefulSet may have the strategy Recreate with its gate, or if it had it before', () => {
  const recreate = spec({ updateStrategy: { type: 'Recreate' } })
  const isGateOn = (gate: string) => gate === 'StatefulSetRecreateStrategy'
  const printed = 'apps.StatefulSetUpdateStrategy{Type:"TYPE", RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(nil)}'
  const refusal = (type: string, rest: string) => `spec.updateStrategy: Invalid value: ${printed.replace('TYPE', type)}: must be ${rest}`
  expect(problemsOf(statefulSet, recreate)).toEqual([refusal('Recreate', "'RollingUpdate' or 'OnDelete'")])
  expect(problemsOf(statefulSet, recreate, { live: recreate })).toEqual([])
  expect(problemsOf(statefulSet, recreate, { isGateOn })).toEqual([])
  const other = spec({ updateStrategy: { type: 'X' } })
  expect(problemsOf(statefulSet, other, { isGateOn })).toEqual([refusal('X', "'RollingUpdate', 'OnDelete', or 'Recreate'")])
})
