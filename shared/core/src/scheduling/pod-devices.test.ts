import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { DeviceClass, ResourceSlice } from './devices/objects.ts'
import { clusterOf } from './lists.ts'
import type { Pod } from './objects.ts'
import { compareDevices, deviceSearch } from './pod-devices.ts'
import { podInfoOf } from './pod-info.ts'
import { schedulingRules } from './rules.ts'

const rules = schedulingRules({ names: namesOf('kubernetes'), level: 37, isGateOn: () => true })
const apiVersion = 'resource.k8s.io/v1'
const namespace = 'default'
const driver = 'gpu.example.com'
const gpu: DeviceClass = { apiVersion, kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: {} }

const aSlice = (name: string): ResourceSlice => ({
  ...{ apiVersion, kind: 'ResourceSlice', metadata: { name } },
  spec: { driver, pool: { name, generation: 1, resourceSliceCount: 1 }, nodeName: 'n', devices: [{ name: 'a' }, { name: 'b' }] },
})

const aPod = (name: string): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid: name }, status: {} },
  spec: { containers: [{ name: 'main', resources: {} }], resourceClaims: [{ name: 'devices', resourceClaimName: name, source: {} }] },
})

const aClaim = (name: string, expression: string) => ({
  ...{ apiVersion, kind: 'ResourceClaim', metadata: { name, namespace }, status: {} },
  spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', selectors: [{ cel: { expression } }] } }] } },
})

test('claims are compared with devices one slice a step, and claims with the same selectors once', () => {
  const byDriver = `device.driver == "${driver}"`
  const resourceClaims = [aClaim('one', byDriver), aClaim('same', byDriver), aClaim('other', `!(${byDriver})`)]
  const slices = [aSlice('s1'), aSlice('s2'), aSlice('s3')]
  const stepsOf = (pod: string, deviceSlices: readonly ResourceSlice[]) =>
    [...compareDevices(podInfoOf(aPod(pod)), clusterOf({ resourceClaims, deviceClasses: [gpu], deviceSlices }), rules)].length
  const changed = [...slices.slice(0, 2), aSlice('s3')]
  expect([stepsOf('one', slices), stepsOf('same', slices), stepsOf('other', slices), stepsOf('same', changed)]).toEqual([3, 0, 3, 1])
})

test.each(['ExactCount', 'All'])('devices after one that cannot be compared are not compared: %s', (allocationMode) => {
  const compared: string[] = []
  const deviceNamed = (name: string) => ({
    name,
    get attributes() {
      compared.push(name)
      return {}
    },
  })
  const slice = aSlice('s')
  const deviceSlices = [{ ...slice, spec: { ...slice.spec, devices: ['a', 'b', 'c'].map(deviceNamed) } }]
  const { spec, ...claim } = aClaim('one', `device.attributes["${driver}"].none == "x"`)
  const requests = spec.devices.requests.map(({ name, exactly }) => ({ name, exactly: { ...exactly, allocationMode } }))
  const cluster = clusterOf({ deviceClasses: [gpu], deviceSlices })
  const choice = deviceSearch([{ ...claim, spec: { devices: { requests } } }], cluster, rules).choose({ name: 'n', labels: {} })
  expect(choice).toMatchObject({ kind: 'fault', problem: expect.stringContaining(`${driver}/s/a`) })
  expect(new Set(compared)).toEqual(new Set(['a']))
})
