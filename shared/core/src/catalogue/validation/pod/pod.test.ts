import { describe, expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../../testing/rules-testing.ts'

const type = 'core/v1.Pod'

const pod: Body = {
  metadata: { name: 'p', namespace: 'n' },
  spec: {
    volumes: [{ name: 'v' }],
    containers: [
      {
        name: 'c',
        image: 'i:1',
        ports: [{ containerPort: 80, name: 'http' }],
        env: [{ name: 'A', value: 'b' }],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
  },
}

const container = (fields: Body): Body => withChange(pod, 'spec/containers/0', { name: 'c', image: 'i:1', ...fields })
const spec = (fields: Body): Body => ({ ...pod, spec: { ...(pod['spec'] as Body), ...fields } })
const volume = (source: Body): Body => spec({ volumes: [{ name: 'v', ...source }] })

type Row = readonly [name: string, body: Body, ...expected: string[]]

/** Names the cells of a row; the last ones are the expected errors. */
const toCase = ([name, body, ...expected]: Row) => ({ name, body, expected })

/** Names the cells of a row about a change. */
const toChange = ([name, live, body, ...expected]: readonly [string, Body, Body, ...string[]]) => ({ name, live, body, expected })

const at = 'spec.containers[0]'
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

const ofContainers: readonly Row[] = [
  ['a Pod has a container', spec({ containers: [] }), 'spec.containers: Required value'],
  ['a container has a name', container({ name: '' }), `${at}.name: Required value`],
  ['a container has an image', container({ image: '' }), `${at}.image: Required value`],
  ['an image is not padded', container({ image: ' i' }), `${at}.image: Invalid value: " i": must not have leading or trailing whitespace`],
  [
    'names of containers are unique over the lists',
    spec({ initContainers: [{ name: 'c', image: 'i' }] }),
    'spec.initContainers[0].name: Duplicate value: "c"',
  ],
  [
    'a policy of pulling',
    container({ imagePullPolicy: 'Ever' }),
    `${at}.imagePullPolicy: Unsupported value: "Ever": supported values: "Always", "IfNotPresent", "Never"`,
  ],
  [
    'a policy of messages',
    container({ terminationMessagePolicy: 'Paper' }),
    `${at}.terminationMessagePolicy: Unsupported value: "Paper": supported values: "File", "FallbackToLogsOnError"`,
  ],
  ['a port has a number', container({ ports: [{ name: 'a' }] }), `${at}.ports[0].containerPort: Required value`],
  [
    'a port is in range',
    container({ ports: [{ containerPort: 70_000 }] }),
    `${at}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
  ],
  [
    'a name of a port has a letter',
    container({ ports: [{ containerPort: 1, name: '1' }] }),
    `${at}.ports[0].name: Invalid value: "1": must contain at least one letter (a-z)`,
  ],
  [
    'names of ports are unique',
    container({
      ports: [
        { containerPort: 1, name: 'a' },
        { containerPort: 2, name: 'a' },
      ],
    }),
    `${at}.ports[1].name: Duplicate value: "a"`,
  ],
  [
    'a port has a protocol',
    container({ ports: [{ containerPort: 1, protocol: 'X' }] }),
    `${at}.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
  ],
  [
    'ports of the node are given out once',
    container({
      ports: [
        { containerPort: 1, hostPort: 9 },
        { containerPort: 2, hostPort: 9 },
      ],
    }),
    `${at}.ports[1].hostPort: Duplicate value: "TCP//9"`,
  ],
  [
    "in the node's network both ports are one",
    {
      ...container({ ports: [{ containerPort: 1, hostPort: 9 }] }),
      spec: { ...(container({ ports: [{ containerPort: 1, hostPort: 9 }] })['spec'] as Body), hostNetwork: true },
    },
    `${at}.ports[0].containerPort: Invalid value: 1: must match \`hostPort\` when \`hostNetwork\` is true`,
  ],
  ['a variable has a name', container({ env: [{ value: 'a' }] }), `${at}.env[0].name: Required value`],
  [
    'a variable has one source',
    container({ env: [{ name: 'A', valueFrom: {} }] }),
    `${at}.env[0].valueFrom: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\` or \`secretKeyRef\``,
  ],
  [
    'a variable has a value or a source',
    container({ env: [{ name: 'A', value: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    `${at}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
  ],
  [
    'a field that does not exist',
    container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
    `${at}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
  ],
  [
    'a field that variables cannot read',
    container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }] }),
    `${at}.env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP", "status.podIPs"`,
  ],
  ['one label may be read', container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } }] })],
  [
    'a unit of the processor',
    container({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } }] }),
    `${at}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
  ],
  [
    'a key of a Secret',
    container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }] }),
    `${at}.env[0].valueFrom.secretKeyRef.key: Required value`,
  ],
  [
    'a map of variables has a source',
    container({ envFrom: [{ prefix: 'A' }] }),
    `${at}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
  ],
  [
    'a mount of a volume that is not there',
    container({ volumeMounts: [{ name: 'x', mountPath: '/x' }] }),
    `${at}.volumeMounts[0].name: Not found: "x"`,
  ],
  [
    'mounts have paths of their own',
    container({
      volumeMounts: [
        { name: 'v', mountPath: '/v' },
        { name: 'v', mountPath: '/v' },
      ],
    }),
    `${at}.volumeMounts[1].mountPath: Invalid value: "/v": must be unique`,
  ],
  [
    'a path below the volume',
    container({ volumeMounts: [{ name: 'v', mountPath: '/v', subPath: '/a' }] }),
    `${at}.volumeMounts.subPath: Invalid value: "/a": must be a relative path`,
  ],
  [
    'mounts go both ways for the privileged',
    container({ volumeMounts: [{ name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }] }),
    `${at}.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
  ],
  [
    'a device is a claim',
    container({ volumeDevices: [{ name: 'v', devicePath: '/d' }] }),
    `${at}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
  ],
  [
    'a request is within its limit',
    container({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    `${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit`,
  ],
  [
    'an amount is not negative',
    container({ resources: { limits: { cpu: '-1' } } }),
    `${at}.resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
    `${at}.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
  ],
  [
    'a resource exists',
    container({ resources: { requests: { gold: '1' } } }),
    `${at}.resources.requests[gold]: Invalid value: "gold": must be a standard resource type or fully qualified`,
    `${at}.resources.requests[gold]: Invalid value: "gold": must be a standard resource for containers`,
  ],
  [
    'an extended resource is counted in pieces',
    container({ resources: { limits: { 'a.com/b': '500m' }, requests: { 'a.com/b': '500m' } } }),
    `${at}.resources.limits[a.com/b]: Invalid value: "500m": must be an integer`,
    `${at}.resources.requests[a.com/b]: Invalid value: "500m": must be an integer`,
  ],
  [
    'what quotas count is counted in pieces',
    container({ resources: { limits: { pods: '1500m' }, requests: { pods: '1500m' } } }),
    ...['limits', 'requests'].flatMap((side) => [
      `${at}.resources.${side}[pods]: Invalid value: "pods": must be a standard resource for containers`,
      `${at}.resources.${side}[pods]: Invalid value: "1500m": must be an integer`,
    ]),
  ],
  [
    'huge pages are whole',
    container({ resources: { limits: { 'hugepages-2Mi': '3Mi', memory: '1Mi' }, requests: { 'hugepages-2Mi': '3Mi', memory: '1Mi' } } }),
    `${at}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
    `${at}.resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
  ],
  [
    'huge pages need memory',
    container({ resources: { limits: { 'hugepages-2Mi': '2Mi' } } }),
    `${at}.resources: Forbidden: HugePages require cpu or memory`,
  ],
  ['a probe asks something', container({ livenessProbe: {} }), `${at}.livenessProbe: Required value: must specify a handler type`],
  [
    'a probe asks one thing',
    container({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
    `${at}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`,
  ],
  [
    'life is proved once',
    container({ livenessProbe: { exec: { command: ['a'] }, successThreshold: 2 } }),
    `${at}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
  ],
  [
    'a probe has a port',
    container({ readinessProbe: { httpGet: { port: 0 } } }),
    `${at}.readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
  ],
  [
    'a hook does something',
    container({ lifecycle: { preStop: {} } }),
    `${at}.lifecycle.preStop: Required value: must specify a handler type`,
  ],
  [
    'an init container is not probed',
    spec({ initContainers: [{ name: 'i', image: 'i', readinessProbe: { exec: { command: ['a'] } } }] }),
    'spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers',
  ],
  [
    'ephemeral containers come later',
    spec({ ephemeralContainers: [{ name: 'e', image: 'i' }] }),
    'spec.ephemeralContainers: Forbidden: cannot be set on create',
  ],
  [
    'a user has a number',
    container({ securityContext: { runAsUser: -1 } }),
    `${at}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
  ],
  [
    'the privileged escalate',
    container({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    `${at}.securityContext: Invalid value: core.SecurityContext{Capabilities:(*core.Capabilities)(nil), Privileged:(*bool)(0xc000000000), SELinuxOptions:(*core.SELinuxOptions)(nil), WindowsOptions:(*core.WindowsSecurityContextOptions)(nil), RunAsUser:(*int64)(nil), RunAsGroup:(*int64)(nil), RunAsNonRoot:(*bool)(nil), ReadOnlyRootFilesystem:(*bool)(nil), AllowPrivilegeEscalation:(*bool)(0xc000000000), ProcMount:(*core.ProcMountType)(nil), SeccompProfile:(*core.SeccompProfile)(nil)}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
  ],
]

const ofSpecs: readonly Row[] = [
  [
    'a policy of restarts',
    spec({ restartPolicy: 'Maybe' }),
    'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
  ],
  [
    'a policy of names',
    spec({ dnsPolicy: 'X' }),
    'spec.dnsPolicy: Unsupported value: "X": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
  ],
  [
    'its own policy of names needs servers',
    spec({ dnsPolicy: 'None' }),
    'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
  ],
  [
    'a server of names has an address',
    spec({ dnsConfig: { nameservers: ['x'] } }),
    'spec.dnsConfig.nameservers[0]: Invalid value: "x": must be valid IP address',
  ],
  [
    'a deadline is in the future',
    spec({ activeDeadlineSeconds: 0 }),
    'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
  ],
  [
    'an alias has an address',
    spec({ hostAliases: [{ ip: 'x', hostnames: ['a'] }] }),
    'spec.hostAliases.ip: Invalid value: "x": must be valid IP address',
  ],
  [
    'a toleration of everything exists',
    spec({ tolerations: [{ operator: 'Equal' }] }),
    'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
  ],
  [
    'time is for those that are sent away',
    spec({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }] }),
    `spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
  ],
  [
    'a skew',
    spec({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }] }),
    'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
  ],
  [
    'a constraint once',
    spec({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 2, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
    'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"',
  ],
  [
    'a wish has a weight',
    spec({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
          ],
        },
      },
    }),
    'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
  ],
  [
    'a need names nodes',
    spec({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } }),
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
  ],
  [
    'Pods are near in some topology',
    spec({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] }, topologyKey: 'z' },
          ],
        },
      },
    }),
    "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [
    'a profile by name',
    spec({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
  ],
  ['an operating system', spec({ os: { name: 'beos' } }), 'spec.os: Unsupported value: "beos": supported values: "linux", "windows"'],
  [
    'Linux has no options of Windows',
    spec({ os: { name: 'linux' }, securityContext: { windowsOptions: {} } }),
    'spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod',
  ],
  [
    'overhead is an amount',
    spec({ overhead: { cpu: '-1' } }),
    'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ],
]

const annotated = (key: string, value: string): Body => ({ ...pod, metadata: { name: 'p', namespace: 'n', annotations: { [key]: value } } })

const ofAnnotations: readonly Row[] = [
  [
    'a mirror is on a node',
    annotated('orch.io/config.mirror', 'x'),
    'metadata.annotations[orch.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
  ],
  ['the cost of an end', annotated('controller.orch.io/pod-deletion-cost', '-5')],
  [
    'a cost that is none',
    annotated('controller.orch.io/pod-deletion-cost', '05'),
    'metadata.annotations[controller.orch.io/pod-deletion-cost]: Invalid value: "05": must be a 32bit integer',
  ],
  [
    'a profile of a container that is not there',
    annotated('container.apparmor.security.beta.orch.io/x', 'runtime/default'),
    'metadata.annotations[container.apparmor.security.beta.orch.io/x]: Invalid value: "x": container not found',
  ],
  [
    'a profile that is none',
    annotated('container.apparmor.security.beta.orch.io/c', 'y'),
    'metadata.annotations[container.apparmor.security.beta.orch.io/c]: Invalid value: "y": invalid AppArmor profile name: "y"',
  ],
]

const ofVolumes: readonly Row[] = [
  ['volumes have names of their own', spec({ volumes: [{ name: 'v' }, { name: 'v' }] }), 'spec.volumes[1].name: Duplicate value: "v"'],
  [
    'a volume has one source',
    volume({ emptyDir: {}, hostPath: { path: '/a' } }),
    'spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a path of the node',
    volume({ hostPath: { path: '/a/../b' } }),
    `spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`,
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a claim has a name',
    volume({ persistentVolumeClaim: {} }),
    'spec.volumes[0].persistentVolumeClaim.claimName: Required value',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a mode of files',
    volume({ secret: { secretName: 's', defaultMode: 4096 } }),
    'spec.volumes[0].secret.defaultMode: Invalid value: 4096: must be a number between 0 and 0777 (octal), both inclusive',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a file below the volume',
    volume({ configMap: { name: 'c', items: [{ key: 'k', path: '../a' }] } }),
    `spec.volumes[0].configMap.items[0].path: Invalid value: "../a": must not contain '..'`,
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a file of the Pod has a source',
    volume({ downwardAPI: { items: [{ path: 'a' }] } }),
    'spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a token lives for ten minutes, for an account',
    volume({ projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 1 } }] } }),
    'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
    `${at}.volumeMounts[0].name: Not found: "v"`,
    'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
  ],
  [
    'a token has a path, and its volume is blamed',
    spec({
      serviceAccountName: 'a',
      volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: '', expirationSeconds: 600 } }] } }],
    }),
    'spec.volumes[0].projected.path: Required value',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a variable names the object that it is read from',
    container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: '', key: 'k' } } }] }),
    `${at}.env[0].valueFrom.secretKeyRef.name: Invalid value: "": ${subdomain}`,
  ],
  ['a runtime has a name', spec({ runtimeClassName: '' }), `spec.runtimeClassName: Invalid value: "": ${subdomain}`],
  [
    '/proc is shown by default or unmasked',
    container({ securityContext: { procMount: 'X' } }),
    `${at}.securityContext.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"`,
  ],
  [
    'nodes may be grouped by any label',
    spec({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: 'DoNotSchedule' }] }),
  ],
  [
    'projected files have paths of their own',
    volume({
      projected: {
        sources: [
          { secret: { name: 's', items: [{ key: 'k', path: 'a' }] } },
          { configMap: { name: 'c', items: [{ key: 'k', path: 'a' }] } },
        ],
      },
    }),
    'spec.volumes[0].projected: Invalid value: "c": conflicting duplicate paths',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a driver has a name',
    volume({ csi: { driver: '' } }),
    'spec.volumes[0].csi.driver: Required value',
    `spec.volumes[0].csi.driver: Invalid value: "": ${subdomain}`,
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a claim of the Pod says how much',
    volume({ ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'] } } } }),
    'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
]

describe('a new Pod', () => {
  test('that is valid has no errors', () => expect(problemsOf(type, pod)).toEqual([]))

  test.each([...ofContainers, ...ofSpecs, ...ofVolumes, ...ofAnnotations].map(toCase))(
    'has the expected errors: $name',
    ({ body, expected }) => {
      expect(problemsOf(type, body)).toEqual(expected)
    },
  )
})

const unchangeable =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

const tolerating = (...tolerations: Body[]): Body => spec({ tolerations })
const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }

const changes: readonly (readonly [string, Body, Body, ...string[]])[] = [
  ['the image', pod, container({ ...((pod['spec'] as { containers: Body[] }).containers[0] as Body), image: 'i:2' })],
  ['the deadline, when there was none', pod, spec({ activeDeadlineSeconds: 9 })],
  ['the deadline, to less', spec({ activeDeadlineSeconds: 9 }), spec({ activeDeadlineSeconds: 8 })],
  [
    'not the deadline, to more',
    spec({ activeDeadlineSeconds: 9 }),
    spec({ activeDeadlineSeconds: 10 }),
    'spec.activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous value',
  ],
  [
    'not the deadline, to none',
    spec({ activeDeadlineSeconds: 9 }),
    pod,
    'spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value',
  ],
  [
    'one toleration more, and the time of another',
    tolerating(toleration),
    tolerating({ ...toleration, tolerationSeconds: 6 }, { key: 'b', operator: 'Exists' }),
  ],
  [
    'no toleration less',
    tolerating(toleration),
    pod,
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ],
  [
    'no container more',
    pod,
    spec({ containers: [...(pod['spec'] as { containers: Body[] }).containers, { name: 'd', image: 'i' }] }),
    'spec.containers: Forbidden: pod updates may not add or remove containers',
  ],
  ['nothing else', pod, spec({ hostname: 'h' }), unchangeable],
  [
    'a grace that was negative may become one second',
    spec({ terminationGracePeriodSeconds: -1 }),
    spec({ terminationGracePeriodSeconds: 1 }),
  ],
]

describe('the mutable fields of a Pod', () => {
  test.each(changes.map(toChange))('have the expected errors: $name', ({ live, body, expected }) => {
    expect(problemsOf(type, body, { live })).toEqual(expected)
  })
})

const status = (fields: Body, more: Body = {}): Body => ({ ...spec(more), status: fields })
const ended = [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode: 0 } } }]
const running = [{ ...ended[0], state: { running: {} } }]

const ofStatus: readonly (readonly [string, Body, Body, ...string[]])[] = [
  [
    'addresses are addresses',
    pod,
    status({ podIPs: [{ ip: 'x' }] }),
    'status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  ['an address of each family', pod, status({ podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] })],
  [
    'not two of one family',
    pod,
    status({ podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }),
    'status.podIPs: Invalid value: []core.PodIP{core.PodIP{IP:"10.0.0.1"}, core.PodIP{IP:"10.0.0.2"}}: may specify no more than one IP for each IP family',
  ],
  ['a container is started again', status({ containerStatuses: ended }), status({ containerStatuses: running })],
  [
    'not where the policy says never',
    status({ containerStatuses: ended }, { restartPolicy: 'Never' }),
    status({ containerStatuses: running }, { restartPolicy: 'Never' }),
    'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ],
]

const onNode = { nodeName: 'n' }
const ofTwo = { containers: [{ name: 'c', image: 'i', restartPolicy: 'Never' }], restartPolicy: 'Always' }
const again = { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [1] } }] }
const extended = (requestMappings: object[]) => status({ extendedResourceClaimStatus: { requestMappings, resourceClaimName: 'x' } })
const health = (name: string, word = 'Healthy'): Body => ({
  containerStatuses: [{ ...running[0], allocatedResourcesStatus: [{ name, resources: [{ resourceID: 'a', health: word }] }] }],
})

/** A status at a level, with the previous status. */
const ofStatusAt: readonly (readonly [name: string, level: number, live: Body, body: Body, ...expected: string[]])[] = [
  [
    'a container that never runs again stays ended',
    35,
    status({ containerStatuses: ended }, ofTwo),
    status({ containerStatuses: running }, ofTwo),
    'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ],
  [
    'a rule starts it again',
    35,
    status({ containerStatuses: ended }, { ...ofTwo, containers: [{ ...ofTwo.containers[0], ...again }] }),
    status({ containerStatuses: running }, { ...ofTwo, containers: [{ ...ofTwo.containers[0], ...again }] }),
  ],
  [
    'a sidecar runs again in a Pod that does not',
    29,
    status(
      { initContainerStatuses: ended },
      { restartPolicy: 'Never', initContainers: [{ name: 'c', image: 'i', restartPolicy: 'Always' }] },
    ),
    status(
      { initContainerStatuses: running },
      { restartPolicy: 'Never', initContainers: [{ name: 'c', image: 'i', restartPolicy: 'Always' }] },
    ),
  ],
  [
    'a bound Pod is not nominated',
    35,
    status({}, onNode),
    status({ nominatedNodeName: 'n' }, onNode),
    'status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
  ],
  ['a bound Pod is nominated before 1.35', 34, status({}, onNode), status({ nominatedNodeName: 'n' }, onNode)],
  [
    'the first address of the node is its address',
    30,
    pod,
    status({ hostIP: '10.0.0.2', hostIPs: [{ ip: '10.0.0.1' }] }),
    'status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`',
  ],
  ['an old address may stay', 37, status({ podIPs: [{ ip: '010.0.0.1' }] }), status({ podIPs: [{ ip: '010.0.0.1' }] })],
  [
    'a new address has one spelling from 1.36 on',
    36,
    pod,
    status({ podIPs: [{ ip: '010.0.0.1' }] }),
    'status.podIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s',
  ],
  [
    'claims are those of the spec',
    37,
    pod,
    status({ resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'x' }] }),
    'status.resourceClaimStatuses[0].name: Invalid value: "r": must match the name of an entry in `spec.resourceClaims`',
  ],
  [
    'requests of extended resources are those of containers',
    37,
    pod,
    extended([{ containerName: 'no', resourceName: 'cpu', requestName: 'r' }]),
    'status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "no": must match the name of an entry in spec.initContainers.name or spec.containers.name',
  ],
  [
    'a claim for extended resources has requests',
    37,
    pod,
    extended([]),
    'status.extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required',
  ],
  [
    'users are numbers of 31 bits before 1.37',
    36,
    pod,
    status({ containerStatuses: [{ ...running[0], user: { linux: { uid: 3_000_000_000, gid: 1 } } }] }),
    'status.containerStatuses[0].user.linux.uid: Invalid value: 3000000000: must be between 0 and 2147483647, inclusive',
  ],
  [
    'users are numbers of 32 bits',
    37,
    pod,
    status({ containerStatuses: [{ ...running[0], user: { linux: { uid: 3_000_000_000, gid: 1 } } }] }),
  ],
  [
    'health is that of what the container asks for',
    37,
    pod,
    status(health('example.com/x')),
    'status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "example.com/x": must match one of the container\'s resource requests',
  ],
  [
    'health is one of three words',
    37,
    spec({ containers: [{ name: 'c', image: 'i', resources: { limits: { 'example.com/x': '1' }, requests: { 'example.com/x': '1' } } }] }),
    status(health('example.com/x', 'Fine'), {
      containers: [{ name: 'c', image: 'i', resources: { limits: { 'example.com/x': '1' }, requests: { 'example.com/x': '1' } } }],
    }),
    'status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"',
  ],
]

describe("a Pod's status", () => {
  test.each(ofStatusAt.map(([name, level, live, body, ...expected]) => ({ name, level, live, body, expected })))(
    'has the expected errors at level $level: $name',
    ({ level, live, body, expected }) => {
      expect(problemsOf(type, body, { level, live, part: 'status' })).toEqual(expected)
    },
  )

  test.each(ofStatus.map(toChange))('$name', ({ live, body, expected }) => {
    expect(problemsOf(type, body, { live, part: 'status' })).toEqual(expected)
  })
})

const probe = { exec: { command: ['a'] } }
const init = (fields: Body): Body => spec({ initContainers: [{ name: 'i', image: 'i', ...fields }] })

/** Pods at a level, with the expected errors. */
const ofLevels: readonly (readonly [name: string, level: number, body: Body, ...expected: string[]])[] = [
  [
    'a Pod requests at least what its containers do',
    34,
    spec({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }], resources: { requests: { cpu: '1' } } }),
    'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
  ],
  [
    'a container is limited within the limits of its Pod',
    34,
    spec({ containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '2' } } }], resources: { limits: { cpu: '1' } } }),
    'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1',
  ],
  [
    'a Pod has no other resources of its own',
    34,
    spec({ resources: { limits: { 'example.com/x': '1' } } }),
    'spec.resources.limits[example.com/x]: Unsupported value: "example.com/x": supported values: "cpu", "hugepages-", "memory"',
  ],
  [
    'an init container is not probed',
    28,
    init({ readinessProbe: probe }),
    'spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
  ],
  ['a sidecar has hooks and probes', 29, init({ restartPolicy: 'Always', readinessProbe: probe, lifecycle: { preStop: probe } })],
  [
    'the probes of a sidecar are checked',
    29,
    init({ restartPolicy: 'Always', livenessProbe: {} }),
    'spec.initContainers[0].livenessProbe: Required value: must specify a handler type',
  ],
  [
    'an init container is a sidecar or has no policy',
    33,
    init({ restartPolicy: 'Never' }),
    'spec.initContainers[0].restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  [
    'the Pod decides about other containers',
    33,
    container({ restartPolicy: 'Always' }),
    `${at}.restartPolicy: Forbidden: may not be set for non-init containers`,
  ],
  ['a container has its own policy', 35, container({ restartPolicy: 'Never' })],
  [
    'rules need a policy',
    35,
    container({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }),
    `${at}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
  ],
  [
    'a rule restarts all containers from 1.36 on',
    35,
    container({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In' } }] }),
    `${at}.restartPolicyRules[0].action: Unsupported value: "RestartAllContainers": supported values: "Restart"`,
  ],
  [
    'a sidecar has no rules before 1.36',
    35,
    init({ restartPolicy: 'Always', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In' } }] }),
    'spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always',
  ],
  [
    'a rule is about exit codes, by an operator',
    36,
    container({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart' }, { action: 'Restart', exitCodes: { operator: 'Is' } }],
    }),
    `${at}.restartPolicyRules[0].exitCodes: Required value: must be specified`,
    `${at}.restartPolicyRules[1].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"`,
  ],
  [
    'at most 20 rules with 255 exit codes each',
    36,
    container({
      restartPolicy: 'Never',
      restartPolicyRules: Array(21).fill({ action: 'Restart', exitCodes: { operator: 'In', values: [...Array(255).keys()] } }),
    }),
    `${at}.restartPolicyRules: Too many: 21: must have at most 20 items`,
  ],
  [
    'exit codes are at most 255',
    36,
    container({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [...Array(256).keys()] } }],
    }),
    `${at}.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items`,
  ],
  [
    'a sleep is within the time to end',
    30,
    spec({ terminationGracePeriodSeconds: 5, containers: [{ name: 'c', image: 'i', lifecycle: { preStop: { sleep: { seconds: 6 } } } }] }),
    `${at}.lifecycle.preStop.sleep: Invalid value: 6: must be greater than 0 and less than terminationGracePeriodSeconds (5)`,
  ],
  [
    'a sleep of no time is one from 1.33 on',
    33,
    spec({ terminationGracePeriodSeconds: 5, containers: [{ name: 'c', image: 'i', lifecycle: { preStop: { sleep: { seconds: 0 } } } }] }),
  ],
  [
    'of two hooks the second one is refused, however long it sleeps',
    33,
    container({ lifecycle: { preStop: { ...probe, sleep: { seconds: 99 } } } }),
    `${at}.lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler type`,
  ],
  ['a name of a variable may be any from 1.32 on', 32, container({ env: [{ name: '1 a:b', value: '' }] })],
  ['a prefix of variables may be absent from 1.32 on', 32, container({ envFrom: [{ configMapRef: { name: 'c' } }] })],
  [
    'but for an equals sign',
    32,
    container({ env: [{ name: 'a=b', value: '' }] }),
    `${at}.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
  ],
]

describe('a Pod at a level', () => {
  test.each(ofLevels.map(([name, level, body, ...expected]) => ({ name, level, body, expected })))(
    'has the expected errors at level $level: $name',
    ({ level, body, expected }) => {
      expect(problemsOf(type, body, { level })).toEqual(expected)
    },
  )

  test.each([
    [26, ', `spec.tolerations` (only additions to existing tolerations) or `spec'],
    [27, ',`spec.tolerations` (only additions to existing tolerations),`spec'],
  ])('the message about mutable fields is the one of level %d', (level, part) => {
    const changed = withChange(pod, 'spec/hostNetwork', true)
    expect(problemsOf(type, changed, { level, live: pod })).toEqual([expect.stringContaining(part)])
  })
})

const gated: readonly Row[] = [
  [
    'a stop signal needs the operating system',
    container({ lifecycle: { stopSignal: 'SIGTERM' } }),
    `${at}.lifecycle.stopSignal: Forbidden: may not be set for containers with empty \`spec.os.name\``,
  ],
  [
    'Windows has two signals',
    { ...pod, spec: { containers: [{ name: 'c', image: 'i', lifecycle: { stopSignal: 'SIGHUP' } }], os: { name: 'windows' } } },
    `${at}.lifecycle.stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"`,
  ],
  [
    'the mode of an emptyDir',
    volume({ emptyDir: { mode: 1024 } }),
    'spec.volumes[0].emptyDir.mode: Invalid value: 1024: must be a number between 0 and 01777 (octal), both inclusive',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'options of mounts',
    container({ volumeMounts: [{ name: 'v', mountPath: '/v', bindMountOptions: ['noexec', 'noexec', 'ro'] }] }),
    `${at}.volumeMounts[0].bindMountOptions[1]: Duplicate value: "noexec"`,
    `${at}.volumeMounts[0].bindMountOptions[2]: Unsupported value: "ro": supported values: "nodev", "noexec", "nosuid"`,
  ],
  [
    'HTTP 2 without TLS',
    container({ lifecycle: { postStart: { httpGet: { path: '/', port: 1, scheme: 'HTTPS', protocol: 'HTTP2' } } } }),
    `${at}.lifecycle.postStart.httpGet.protocol: Invalid value: "HTTP2": is only supported with HTTP (H2C)`,
  ],
  [
    'users of files',
    volume({ secret: { secretName: 's', defaultUser: -1 } }),
    'spec.volumes[0].secret.defaultUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    `${at}.volumeMounts[0].name: Not found: "v"`,
  ],
]
test.each(gated.map(toCase))('fields of gates that are off by default have the rules of 1.37: $name', ({ body, expected }) => {
  expect(problemsOf(type, body, { level: 37 })).toEqual(expected)
})
