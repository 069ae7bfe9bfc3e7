import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Node, Pod } from '../workloads/pods.ts'
import { type ConditionInput, containersReady, initialized, mergeConditions, type PodCondition, ready, type Verdict } from './conditions.ts'
import { addressProblem, allocatableOf, hostAddresses, hostNetworkAddresses, reportedAddresses, reportedImages } from './node-model.ts'
import { hasStatusChanged, nodeConditions, type PressureType, pressureTypes, registrationPatch } from './node-status.ts'
import { type ContainerStatus, podPhase } from './phase.ts'
import { deadlineOf, PodLife } from './pod-life.ts'
import { resolvePort } from './probe-run.ts'
import type { ScriptLayer } from './script-model.ts'
import { compileScript } from './script-object.ts'

/** A row of a test table of the kubelet; the first line of the file names its source. */
interface Row {
  readonly func: string
  readonly name?: string
  readonly desc?: string
}

const rows: readonly Row[] = ['kubelet-phase', 'kubelet-node', 'kubelet-probes'].flatMap((file) => {
  const [, ...lines] = readFileSync(join(import.meta.dirname, 'cases', `${file}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line): Row => JSON.parse(line))
})

function rowsOf<T>(...functions: readonly string[]): [name: string, row: Row & T][] {
  const chosen = rows.filter(({ func }) => functions.includes(func))
  return chosen.map((row, index) => [`${row.func} ${row.name ?? row.desc ?? index}`, row as Row & T])
}

const names = namesOf('kubernetes')

function aLife(pod: Pod, layers: readonly ScriptLayer[] = []): PodLife {
  return new PodLife({
    ...{ pod, names, level: 25, addresses: ['10.244.0.2'], hostAddresses: ['10.250.0.1'], layers },
    newId: () => 'id',
    digestOf: () => 'digest',
  })
}

interface PhaseRow {
  readonly pod: Pod
  readonly status: string
}

const phases = ['TestPodPhaseWithRestartAlways', 'TestPodPhaseWithRestartNever', 'TestPodPhaseWithRestartOnFailure']

test.each(rowsOf<PhaseRow>(...phases))(
  'NODE-SIM-24: a Pod has the phase of the table %s',
  (_, { pod: { spec, status }, status: expected }) => {
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
    expect(podPhase({ spec, statuses })).toBe(expected)
  },
)

interface ConditionRow {
  readonly spec?: Pod['spec']
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly conditions?: readonly PodCondition[]
  readonly podPhase: string
  readonly expectReady?: PodCondition
  readonly expected?: PodCondition
}

const verdicts: Readonly<Record<string, (input: ConditionInput, conditions: readonly PodCondition[]) => Verdict>> = {
  TestGeneratePodReadyCondition: ready,
  TestGenerateContainersReadyCondition: containersReady,
  // This table contains no messages.
  TestGeneratePodInitializedCondition: (input) => ({ ...initialized(input), message: undefined }),
}

test.each(rowsOf<ConditionRow>(...Object.keys(verdicts)))('NODE-SIM-25, NODE-SIM-26: a Pod has the condition of the table %s', (_, row) => {
  const input = { spec: row.spec ?? { containers: [] }, statuses: row.containerStatuses, phase: row.podPhase }
  const { status, reason, message } = { ...row.expected, ...row.expectReady }
  const { reason: haveReason, message: haveMessage, ...rest } = verdicts[row.func]?.(input, row.conditions ?? []) ?? {}
  expect({ ...rest, reason: haveReason, message: haveMessage }).toEqual({ status, reason, message })
})

type MergeRow = Readonly<Record<'oldStatus' | 'newStatus' | 'expected', { readonly conditions: readonly PodCondition[] }>>

test.each(rowsOf<MergeRow>('TestMergePodStatus'))('NODE-SIM-27: conditions of other clients stay, as in the table %s', (_, row) => {
  const merged = mergeConditions(row.oldStatus.conditions, row.newStatus.conditions)
  // Conditions are a map by type, and the table orders them differently.
  expect(new Map(merged.map((one) => [one.type, one]))).toEqual(new Map(row.expected.conditions.map((one) => [one.type, one])))
})

interface DeadlineRow {
  readonly pod: Pod
  readonly expected: boolean
}

test.each(rowsOf<DeadlineRow>('TestActiveDeadlineHandler'))(
  'NODE-SIM-40: a Pod is past its deadline as in the table %s',
  (_, { pod, expected }) => {
    // The table's Pods began a minute earlier.
    const startedMs = pod.status?.startTime ? Date.parse(pod.status.startTime) : undefined
    const nowMs = (startedMs ?? 0) + 60_000
    expect(nowMs >= (deadlineOf(pod, startedMs) ?? Number.POSITIVE_INFINITY)).toBe(expected)
  },
)

type NodeAddress = NonNullable<Node['status']['addresses']>[number]

interface HostNetworkRow {
  readonly name: string
  readonly dualStack: boolean
  readonly nodeAddresses: readonly NodeAddress[]
  readonly criPodIPs?: readonly string[]
  readonly podIPs: readonly { readonly ip: string }[]
}

/** Clusters with one address family ended with 1.23; since then a Pod gets a second address when its node does. */
const olderRows = ['Dual-stack addresses are ignored in single-stack cluster', 'CRI PodIPs override NodeAddresses']

test.each(rowsOf<HostNetworkRow>('TestGenerateAPIPodStatusHostNetworkPodIPs').filter(([, { name }]) => !olderRows.includes(name)))(
  'NODE-SIM-28: a Pod on the host network has the addresses of the table %s',
  (_, { nodeAddresses, criPodIPs = [], podIPs }) => {
    expect(hostNetworkAddresses(criPodIPs, hostAddresses(nodeAddresses))).toEqual(podIPs.map(({ ip }) => ip))
  },
)

interface RecordRow {
  readonly containers: readonly { readonly name: string }[]
  readonly oldStatuses: readonly ContainerStatus[]
  readonly expectedState: Readonly<Record<string, object>>
  readonly expectedInitState: Readonly<Record<string, object>>
  readonly expectedLastTerminationState: Readonly<Record<string, object>>
}

test.each(rowsOf<RecordRow>('TestGenerateAPIPodStatusWithReasonCache'))(
  'NODE-SIM-22: containers that have not started have the states of the table %s',
  (_, { containers, oldStatuses, expectedState, expectedInitState, expectedLastTerminationState }) => {
    const statesOf = (field: 'containers' | 'initContainers', statusField: 'containerStatuses' | 'initContainerStatuses') => {
      const object = {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace: 'default', uid: 'u' } },
        spec: { containers: [], [field]: containers },
        status: { phase: 'Pending', [statusField]: oldStatuses },
      }
      const pod: Pod = JSON.parse(JSON.stringify(object))
      return aLife(pod).status(pod.status, 0)[statusField] ?? []
    }
    const main = statesOf('containers', 'containerStatuses')
    const init = statesOf('initContainers', 'initContainerStatuses')
    const byName = (statuses: readonly ContainerStatus[], part: 'state' | 'lastState') =>
      Object.fromEntries(statuses.flatMap((status) => (Object.keys(status[part] ?? {}).length > 0 ? [[status.name, status[part]]] : [])))
    expect(byName(main, 'state')).toEqual(expectedState)
    expect(byName(init, 'state')).toEqual(expectedInitState)
    for (const statuses of [main, init]) expect(byName(statuses, 'lastState')).toMatchObject(expectedLastTerminationState)
  },
)

interface MachineRow {
  readonly expectNode: { readonly status: Readonly<Record<'allocatable' | 'capacity', Readonly<Record<string, string>>>> }
  readonly nodeAllocatableReservation?: Readonly<Record<string, string>>
}

test.each(rowsOf<MachineRow>('TestMachineInfo'))(
  'NODE-SIM-04: Pods may use the part of the capacity in the table %s',
  (_, { expectNode: { status }, nodeAllocatableReservation }) => {
    expect(allocatableOf(status.capacity, nodeAllocatableReservation)).toEqual(status.allocatable)
  },
)

interface ImagesRow {
  readonly imageList: readonly { readonly repoDigests?: readonly string[]; readonly repoTags?: readonly string[]; readonly size: number }[]
  readonly maxImages: number
}

test.each(rowsOf<ImagesRow>('TestImages'))('SCHED-54: a node reports images as in the table %s', (_, { imageList, maxImages }) => {
  const images = imageList.map(({ repoDigests = [], repoTags = [], size }) => ({ names: [...repoDigests, ...repoTags], sizeBytes: size }))
  const bySize = [...images].sort((one, other) => other.sizeBytes - one.sizeBytes)
  const expected = bySize.slice(0, maxImages === -1 ? images.length : maxImages)
  expect(reportedImages(images, maxImages)).toEqual(expected.map((image) => ({ ...image, names: image.names.slice(0, 5) })))
})

interface AddressRow {
  readonly nodeIPs: readonly string[]
  readonly expectedAddresses: readonly NodeAddress[]
}

test.each(rowsOf<AddressRow>('TestNodeAddress', 'TestNodeAddress_NoCloudProvider'))(
  'NODE-SIM-06: a node reports the addresses of the table %s',
  (_, { nodeIPs, expectedAddresses }) => {
    expect(reportedAddresses([], nodeIPs, 'hostname')).toEqual(expectedAddresses)
  },
)

interface NodeIpRow {
  readonly nodeIP: string
  readonly success: boolean
}

test.each(rowsOf<NodeIpRow>('TestValidateNodeIPParam'))(
  'NODE-SIM-06: a node may have the address of the table %s',
  (_, { nodeIP, success }) => {
    expect(addressProblem(nodeIP) === undefined).toBe(success)
  },
)

type NodeCondition = NonNullable<Node['status']['conditions']>[number]

interface NodeConditionRow {
  readonly node: Node
  readonly pressure?: boolean
  readonly expectConditions: readonly NodeCondition[]
  readonly expectEvents?: readonly { readonly event: string }[]
  readonly runtimeErrors?: Failure
  readonly networkErrors?: Failure
  readonly storageErrors?: Failure
  readonly nodeShutdownManagerErrors?: Failure
}

interface Failure {
  readonly $error: string
}

const conditionTests = ['TestReadyCondition', ...pressureTypes.map((type) => `Test${type}Condition`)]

test.each(rowsOf<NodeConditionRow>(...conditionTests))(
  'NODE-SIM-07, NODE-SIM-08: a node reports the condition and the events of the table %s',
  (_, row) => {
    const { func, node, pressure, expectConditions, expectEvents = [] } = row
    const type = func.slice('Test'.length).replace(/^(Ready|.*Pressure)Condition$/, '$1')
    const failures = [row.runtimeErrors, row.networkErrors, row.storageErrors, row.nodeShutdownManagerErrors]
    const pressures = pressure === true ? [type as PressureType] : []
    const health = { pressures, problems: failures.flatMap((failure) => failure?.$error ?? []) }
    const nowMs = Date.parse(expectConditions[0]?.lastHeartbeatTime ?? '')
    const { conditions, events } = nodeConditions(health, node.status, nowMs)
    expect(conditions.filter((condition) => condition.type === type)).toEqual(expectConditions)
    const words = type === 'Ready' ? /Ready$/ : new RegExp(type.replace('Pressure', ''))
    expect(events.filter((event) => words.test(event))).toEqual(expectEvents.map(({ event }) => event))
  },
)

interface ChangeRow {
  readonly originalStatus?: Node['status']
  readonly status?: Node['status']
  readonly expectChange: boolean
}

test.each(rowsOf<ChangeRow>('TestNodeStatusHasChanged'))('NODE-SIM-12: a status is written at once as in the table %s', (_, row) => {
  expect(hasStatusChanged(row.originalStatus, row.status)).toBe(row.expectChange)
})

interface LabelRow {
  readonly initialNode: Node
  readonly existingNode: Node
  readonly needsUpdate: boolean
  readonly finalLabels: Readonly<Record<string, string>>
}

const registered = ({ metadata = {} }: Partial<Node>) => ({ metadata })

test.each(rowsOf<LabelRow>('TestUpdateDefaultLabels'))(
  'NODE-SIM-01: a kubelet that starts again sets the labels of the table %s',
  (_, row) => {
    const existing = registered(row.existingNode)
    const patch = registrationPatch(existing, registered(row.initialNode), names) as { metadata: Node['metadata'] } | undefined
    expect(patch !== undefined).toBe(row.needsUpdate)
    expect({ ...existing.metadata.labels, ...patch?.metadata.labels }).toEqual(row.finalLabels)
  },
)

interface RegisterRow {
  readonly newNode: Node
  readonly existingNode: Node
  readonly expectedActions: number
}

test.each(rowsOf<RegisterRow>('TestTryRegisterWithApiServer'))(
  'NODE-SIM-01, NODE-SIM-03: a kubelet patches an existing Node as in the table %s',
  (_, row) => {
    // A create and a get precede the patch.
    expect(registrationPatch(registered(row.existingNode), registered(row.newNode), names) !== undefined).toBe(row.expectedActions === 3)
  },
)

interface PortRow {
  readonly probe: { readonly port: number | string }
  readonly ok: boolean
  readonly port: number
}

test.each(rowsOf<PortRow>('TestGetURLParts', 'TestGetTCPAddrParts'))(
  'NODE-SIM-46: a probe has the port of the table %s',
  (_, { probe, ok, port }) => {
    const ports = [{ name: 'found', containerPort: 93, protocol: 'TCP' }]
    const resolved = resolvePort(probe.port, ports, 25)
    expect(resolved).toEqual(ok ? { port } : { problem: expect.any(String) })
    const isText = typeof probe.port === 'string'
    if (isText && probe.port !== 'found')
      expect(resolvePort(probe.port, ports, 37)).toEqual({ problem: `port ${JSON.stringify(probe.port)} not found` })
  },
)

interface ProbeRow {
  readonly probe: { readonly initialDelaySeconds?: number }
  readonly podStatus?: Pod['status']
  readonly expectContinue: boolean
  readonly expectSet: boolean
  /** 0 means success, 1 failure. */
  readonly expectedResult: number
}

/** The table has each row three times: for liveness, readiness and startup. */
const probeRows = rowsOf<ProbeRow>('TestDoProbe').map(([name, row], index, all) => {
  const kind = (['liveness', 'readiness', 'startup'] as const)[Math.floor((index / all.length) * 3)] ?? 'liveness'
  return [`${name} of ${kind}`, kind, row] as const
})

test.each(probeRows)('NODE-SIM-43, NODE-SIM-45: a probe sets its result and continues as in the table %s', (_, kind, row) => {
  const name = 'cOnTaInEr_NaMe'
  // A container without a status has not started.
  const script = { name: '*', startAfter: '1h' }
  const container = { name, [`${kind}Probe`]: row.probe }
  const object = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace: 'default', uid: 'u' } },
    spec: { containers: [container], restartPolicy: 'Never' },
    status: row.podStatus ?? { phase: 'Pending' },
  }
  const pod: Pod = JSON.parse(JSON.stringify(object))
  const life = aLife(pod, [compileScript({ apiVersion: '', kind: '', metadata: {}, spec: { containers: [script] } }).layer])
  const startedAt = row.podStatus?.containerStatuses?.[0]?.state?.running?.startedAt
  const nowMs = Date.parse(startedAt ?? '2026-11-28T05:54:50Z') + 1000
  const { due } = life.advance(nowMs)
  const [status] = life.status(pod.status, nowMs).containerStatuses ?? []
  const isRunning = status?.state?.running != null
  expect(isRunning || due !== undefined).toBe(row.expectContinue)
  if (!row.expectSet) return
  const results = { liveness: isRunning, readiness: status?.ready === true, startup: status?.started === true }
  expect(results[kind]).toBe(row.expectedResult === 0)
})
