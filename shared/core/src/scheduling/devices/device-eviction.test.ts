import { describe, expect, test } from 'vitest'
import { EvictingDevices, evictionOf } from './device-eviction.ts'
import type { ResourceSlice, Tolerations } from './objects.ts'
import { type DeviceTaintRule, ruleReport } from './taint-rules.ts'

type Toleration = Tolerations[number]

const added = '2030-01-01T00:00:00Z'
const addedMs = Date.parse(added)
const sick = { key: 'sick', value: 'very', effect: 'NoExecute', timeAdded: added }

const aSlice = (devices: readonly object[], generation = 1, name = `s-${generation}`): ResourceSlice =>
  ({
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: { name } },
    spec: { driver: 'gpu', pool: { name: 'p', generation, resourceSliceCount: 1 }, devices },
  }) as unknown as ResourceSlice
const aClaim = (...tolerations: readonly Toleration[]) => {
  return {
    status: {
      allocation: { devices: { results: [{ request: 'r', driver: 'gpu', pool: 'p', device: 'a', adminAccess: null, tolerations }] } },
    },
  }
}
const aRule = (deviceSelector: object | undefined, timeAdded = added) =>
  ({ spec: { taint: { ...sick, timeAdded }, ...(deviceSelector && { deviceSelector }) } }) as unknown as DeviceTaintRule

describe('the eviction of a claim’s users', () => {
  test.each<[string, Toleration[], number | undefined]>([
    ['no toleration', [], 0],
    ['a toleration of another effect', [{ operator: 'Exists', effect: 'NoSchedule' }], 0],
    ['a toleration of another value', [{ key: 'sick', operator: 'Equal', value: 'little', effect: 'NoExecute' }], 0],
    [
      'the shortest of its tolerations',
      [60, 30].map((tolerationSeconds) => ({ operator: 'Exists', effect: 'NoExecute', tolerationSeconds })),
      30,
    ],
    ['a negative time', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: -5 }], 0],
    ['a toleration without a time', [{ key: 'sick', operator: 'Exists', effect: 'NoExecute' }], undefined],
  ])('by a taint of the device: %s', (_title, tolerations, seconds) => {
    const devices = new EvictingDevices()
    devices.apply({ after: aSlice([{ name: 'a', taints: [sick] }, { name: 'b' }]) })
    const eviction = evictionOf(aClaim(...tolerations), devices, [])
    expect(eviction?.atMs).toBe(seconds === undefined ? undefined : addedMs + seconds * 1000)
  })

  test('by the earliest of several rules that select the device', () => {
    const later = aRule({ driver: 'gpu', pool: 'p', device: 'a' }, '2030-01-01T00:01:00Z')
    const rules = [later, aRule({}), aRule({ driver: 'other' }), aRule({ device: 'b' }), aRule(undefined)]
    expect(evictionOf(aClaim(), new EvictingDevices(), rules)).toEqual({ atMs: addedMs, rules: rules.slice(0, 2) })
  })

  test('counts the newest generation of a pool, and names the devices that change', () => {
    const devices = new EvictingDevices()
    const [first, second] = [aSlice([{ name: 'a', taints: [sick] }]), aSlice([{ name: 'a' }], 2)]
    expect([...devices.apply({ after: first })]).toEqual(['gpu/p/a'])
    expect([...devices.apply({ before: first, after: first })]).toEqual([])
    expect([...devices.apply({ after: second })]).toEqual(['gpu/p/a'])
    expect(evictionOf(aClaim(), devices, [])).toBeUndefined()
    expect([...devices.apply({ before: second })]).toEqual(['gpu/p/a'])
  })

  test('counts each slice of a generation', () => {
    const devices = new EvictingDevices()
    const slices = ['a', 'b'].map((name) => aSlice([{ name, taints: [sick] }], 1, name))
    expect(slices.flatMap((after) => [...devices.apply({ after })])).toEqual(['gpu/p/a', 'gpu/p/b'])
    const healed = aSlice([{ name: 'b' }], 1, 'b')
    expect([...devices.apply({ before: slices[1], after: healed })]).toEqual(['gpu/p/b'])
    expect(evictionOf(aClaim(), devices, [])).toMatchObject({ atMs: addedMs })
    expect([...devices.apply({ before: slices[0] })]).toEqual(['gpu/p/a'])
    expect(evictionOf(aClaim(), devices, [])).toBeUndefined()
  })
})

test.each([
  ['NoExecute', { pods: 0 }, { status: 'False', reason: 'NotStarted', message: '' }],
  ['NoExecute', { pods: 1 }, { status: 'True', reason: 'PodsPendingEviction', message: '1 pod needs to be evicted in 1 namespace.' }],
  ['NoExecute', { evicted: 2 }, { status: 'False', reason: 'Completed', message: '2 pods evicted since starting the controller.' }],
  ['NoSchedule', {}, { status: 'False', reason: 'OtherEffect', message: 'Eviction only happens for the NoExecute effect.' }],
])('the report of a rule with %s and %j', (effect, counts, report) => {
  const devices = () => ({ published: 0, allocated: 0 })
  expect(ruleReport(effect, { pods: 0, namespaces: 1, evicted: 0, devices, ...counts })).toEqual(report)
})
