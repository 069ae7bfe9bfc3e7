import { jsonEqual } from '@orch/core/json'
import { domainGroup, subdomainLabel } from '@orch/core/names'
import {
  type EndpointNames,
  type EndpointSlice,
  type Endpoints,
  endpointNames,
  isMirrored,
  mirror,
  mirroredMax,
  packSlices,
  repack,
  type Service,
} from '@orch/core/workloads'
import { aboutObject, keyOf } from '../informers/object-keys.ts'
import { type Controller, done, mapped, own, ownedBy, type Result, reconciler, requeueAfter } from '../reconciler/index.ts'
import { referenceTo, retriesMax } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'
import { endpointHashAt, hasSelector } from './service-pods.ts'
import { type SliceWriter, writeSlices } from './slice-writes.ts'

const backoff = { firstMs: 1000, maxMs: 100_000, retriesMax }
const sliceDelayMs = 1000
const pendingDelayMs = 100
const ownerKind = { apiVersion: 'v1', kind: 'Endpoints' }
/** Below this level, subsets are mirrored in their own order. */
const mergedSince = 27

/** Mirrors manually created Endpoints to EndpointSlices. */
export function endpointSliceMirroringController({ level }: ServedLevel): Controller {
  return reconciler<Endpoints>('endpointslicemirroring', ({ names }) => {
    const apiVersion = `${domainGroup(names, 'discovery')}/v1`
    const endpoints = own<Endpoints>('v1', 'endpoints')
    const services = mapped<Service>('v1', 'services', ({ object }) => [keyOf(object)])
    const slices = ownedBy<EndpointSlice>(apiVersion, 'endpointslices', { isLazy: true, delayMs: () => sliceDelayMs })
    const ofProduct = endpointNames(names)
    const lastApplied = subdomainLabel(names, 'kubectl', 'last-applied-configuration')
    return {
      watches: [endpoints, services, slices],
      component: 'endpoint-slice-mirroring-controller',
      backoff,
      reconcile: async ({ key, object, world, signal }) => {
        if (world.isPending) return requeueAfter(pendingDelayMs)
        const service = world.read(services).get(key)
        const hasHandMade = service !== undefined && !hasSelector(service) && isMirrored(object, ofProduct)
        return reconcileMirror({ object, hasHandMade, apiVersion, names: ofProduct, level, lastApplied, writer: { world, slices, signal } })
      },
    }
  })
}

interface MirrorPass {
  readonly object: Endpoints
  /** False to remove the mirrored slices. */
  readonly hasHandMade: boolean
  readonly apiVersion: string
  readonly names: EndpointNames
  readonly level: number
  /** Annotation that is not copied. */
  readonly lastApplied: string
  readonly writer: SliceWriter
}

async function reconcileMirror(pass: MirrorPass): Promise<Result> {
  const { object, hasHandMade, apiVersion, names, level, lastApplied, writer } = pass
  const { name = '', namespace } = object.metadata
  const existing = [...writer.world.read(writer.slices).inNamespace(namespace)].filter(
    ({ metadata: { labels } }) => labels?.[names.serviceName] === name && labels[names.managedBy] === names.mirrorManager,
  )
  if (!hasHandMade) {
    await writer.world.perform(existing.map((slice) => ({ kind: 'delete', in: writer.slices, object: slice }) as const))
    return done
  }
  const { subsets } = object
  const hash = endpointHashAt(level)
  const mirrored = mirror(level < mergedSince ? (subsets ?? []) : repack(subsets ?? [], hash), hash)
  recordSkipped(pass, mirrored)
  const labels = { ...object.metadata.labels, [names.serviceName]: name, [names.managedBy]: names.mirrorManager }
  const { [names.triggerTime]: _, [lastApplied]: _applied, ...annotations } = object.metadata.annotations ?? {}
  const isOld = ({ metadata }: EndpointSlice) =>
    !jsonEqual(metadata.labels ?? {}, labels) ||
    !jsonEqual(metadata.annotations ?? {}, annotations) ||
    metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid) !== true
  for (const family of ['IPv4', 'IPv6'] as const) {
    const ofFamily = existing.filter(({ addressType }) => addressType === family)
    const groups = mirrored.groups.get(family) ?? []
    const plan = packSlices({ existing: ofFamily, groups, endpointsMax: mirroredMax, hasOldLabels: isOld, hasPlaceholder: false })
    const reference = referenceTo(ownerKind, object)
    // kube-controller-manager builds the metadata anew for each update, without `generateName`.
    const keptOf = ({ metadata: { generateName: _prefix, ...kept } }: EndpointSlice) => kept
    const annotationsOf = () => annotations
    await writeSlices(plan, { apiVersion, owner: object, reference, family, labels, keptOf, annotationsOf }, writer)
  }
  return done
}

function recordSkipped(
  { object, writer }: MirrorPass,
  { invalidCount, skippedCount }: { invalidCount: number; skippedCount: number },
): void {
  const record = (reason: string, message: string) =>
    writer.world.record(aboutObject(ownerKind, object), { type: 'Warning', reason, message })
  if (invalidCount > 0) record('InvalidIPAddress', `Skipped ${invalidCount} invalid IP addresses when mirroring to EndpointSlices`)
  if (skippedCount > invalidCount) {
    const rule = `A max of ${mirroredMax} addresses can be mirrored to EndpointSlices per Endpoints subset.`
    record('TooManyAddressesToMirror', `${rule} ${skippedCount} addresses were skipped`)
  }
}
