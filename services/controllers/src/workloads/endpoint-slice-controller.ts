import { type EventDraft, isRefusal } from '@orch/client'
import { parseQuantity, printTime, roundUpQuantity, toInstant } from '@orch/core/meta'
import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import {
  distributionOf,
  type EndpointNames,
  type EndpointSlice,
  endpointNames,
  equalLabels,
  type Family,
  familiesOf,
  groupByPorts,
  type Node,
  type Pod,
  packSlices,
  type Service,
  type SlicesPlan,
  sharesOfZones,
  sliceLabels,
  TriggerTimes,
  topologyHints,
  withHints,
} from '@orch/core/workloads'
import { messageOf } from '@orch/platform'
import { aboutObject } from '../informers/object-keys.ts'
import { type Controller, done, type Mapped, mapped, own, ownedBy, type Result, reconciler, requeueAfter } from '../reconciler/index.ts'
import { referenceTo, retriesMax } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'
import { endpointHashAt, podsOf, selects, servicesOfPod } from './service-pods.ts'
import { type SliceWriter, writeSlices } from './slice-writes.ts'

/** The default of upstream's flag. */
const endpointsMax = 100
/** Delay after a change of a slice, and after a pass whose writes are not visible yet. */
const sliceDelayMs = 1000
const pendingDelayMs = 100
const backoff = { firstMs: 1000, maxMs: 1_000_000, retriesMax }
const ownerKind = { apiVersion: 'v1', kind: 'Service' }

/** Maintains the EndpointSlices of each Service with a selector. */
export function endpointSliceController({ level }: ServedLevel): Controller {
  return reconciler<Service>('endpointslice', ({ names }) => {
    const services = own<Service>('v1', 'services')
    const pods = mapped<Pod>('v1', 'pods', (event, caches) => servicesOfPod(event, caches.read(services)), { isLazy: true })
    const nodes = mapped<Node>('v1', 'nodes', () => [], { isLazy: true })
    const apiVersion = `${domainGroup(names, 'discovery')}/v1`
    const slices = ownedBy<EndpointSlice>(apiVersion, 'endpointslices', { isLazy: true, delayMs: () => sliceDelayMs })
    const times = new TriggerTimes()
    /** Keys `KEY FAMILY` of Services with topology hints by CPU. */
    const hinted = new Set<string>()
    const ofProduct = endpointNames(names)
    return {
      watches: [services, pods, nodes, slices],
      component: 'endpoint-slice-controller',
      backoff,
      absent: async ({ key }) => {
        times.forget(key)
        for (const family of ['IPv4', 'IPv6']) hinted.delete(`${key} ${family}`)
        return done
      },
      reconcile: async ({ key, object: service, world, signal }) => {
        if (!selects(service, level)) return done
        if (world.isPending) return requeueAfter(pendingDelayMs)
        const matching = podsOf(service, world.read(pods))
        const changedMs = times.changedMs(key, service, matching)
        const pass = {
          service,
          pods: matching,
          nodes,
          apiVersion,
          names: ofProduct,
          level,
          changedMs,
          hinted,
          product: names,
          writer: { world, slices, signal },
        }
        return reconcileSlices(pass)
      },
    }
  })
}

interface SlicesPass {
  readonly service: Service
  readonly pods: readonly Pod[]
  readonly nodes: Mapped<Node>
  readonly apiVersion: string
  readonly names: EndpointNames
  readonly level: number
  readonly changedMs: number | undefined
  /** Keys `KEY FAMILY` of Services with topology hints by CPU. */
  readonly hinted: Set<string>
  readonly product: Names
  readonly writer: SliceWriter
}

/** A failure of one family causes an event, and other families are still written. */
async function reconcileSlices(pass: SlicesPass): Promise<Result> {
  const { service, names, writer } = pass
  const { name = '', namespace } = service.metadata
  const families = familiesOf(service)
  const managed = [...writer.world.read(writer.slices).inNamespace(namespace)].filter(
    ({ metadata: { labels } }) => labels?.[names.serviceName] === name && labels[names.managedBy] === names.sliceManager,
  )
  const errors: unknown[] = []
  for (const family of families) {
    const existing = managed.filter(({ addressType }) => addressType === family)
    await reconcileFamily(pass, family, existing).catch((error: unknown) => void errors.push(error))
  }
  const deleted = managed.filter(({ addressType }) => !families.some((family) => family === addressType))
  await writer.world.perform(deleted.map((object) => ({ kind: 'delete', in: writer.slices, object }) as const))
  const [error] = errors
  if (error === undefined) return done
  // The cache may be outdated.
  if (!isRefusal(error, ['Conflict', 'NotFound'])) {
    const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${messageOf(error)}`
    record(pass, { type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message })
  }
  throw error
}

async function reconcileFamily(pass: SlicesPass, family: Family, existing: readonly EndpointSlice[]): Promise<void> {
  const { service, pods, nodes, names, level, writer, apiVersion, changedMs } = pass
  const missing: string[] = []
  const factsOf = ({ metadata, spec: { nodeName = '' } }: Pod) => {
    const node = writer.world.read(nodes).get(nodeName)
    if (node !== undefined) return { zone: node.metadata.labels?.[names.zone] }
    if (service.spec.publishNotReadyAddresses === true) return {}
    missing.push(`skipping Pod ${metadata.name} for Service ${metadata.namespace}/${service.metadata.name}: Node ${nodeName} Not Found`)
    return undefined
  }
  const groups = groupByPorts(service, pods, { family, level, hash: endpointHashAt(level), factsOf })
  const labels = sliceLabels(service, names)
  const isOwn = (slice: EndpointSlice) => slice.metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) === true
  const mine = existing.filter(isOwn)
  const packed = packSlices({
    existing: mine,
    groups,
    endpointsMax,
    hasOldLabels: ({ metadata }) => !equalLabels(metadata.labels, labels, names),
  })
  const plan = hintedPlan(pass, family, { packed, mine })
  const annotationsOf = (slice: EndpointSlice | undefined) => {
    const { [names.triggerTime]: _, ...kept } = slice?.metadata.annotations ?? {}
    return { ...kept, ...(changedMs !== undefined && { [names.triggerTime]: printTime(toInstant(changedMs)) }) }
  }
  const keptOf = ({ metadata }: EndpointSlice) => metadata
  const frame = { apiVersion, owner: service, reference: referenceTo(ownerKind, service), family, labels, keptOf, annotationsOf }
  await writeSlices({ ...plan, deleted: [...plan.deleted, ...existing.filter((slice) => !isOwn(slice))] }, frame, writer)
  if (missing.length > 0) throw new Error(missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`)
}

function record({ service, writer }: SlicesPass, draft: EventDraft): void {
  writer.world.record(aboutObject(ownerKind, service), draft)
}

/** Hints by the CPU of zones if the Service requests them, otherwise by its traffic distribution. */
function hintedPlan(
  pass: SlicesPass,
  family: Family,
  { packed, mine }: { packed: SlicesPlan; mine: readonly EndpointSlice[] },
): SlicesPlan {
  const { service, level, hinted } = pass
  const id = `${service.metadata.namespace}/${service.metadata.name} ${family}`
  const disable = (message: string) => {
    hinted.delete(id)
    record(pass, { type: 'Warning', reason: 'TopologyAwareHintsDisabled', message: `${message}, addressType: ${family}` })
  }
  if (!wantsTopology(pass)) {
    if (hinted.has(id)) disable('Topology Aware Hints has been disabled')
    return withHints(packed, mine, distributionOf(service, level))
  }
  const result = topologyHints(packed, mine, sharesOfZones(zonedNodes(pass)))
  if (result.kind === 'none') {
    disable(result.message)
    return withHints(packed, mine, undefined)
  }
  if (!hinted.has(id)) {
    const message = `Topology Aware Hints has been enabled, addressType: ${family}`
    record(pass, { type: 'Normal', reason: 'TopologyAwareHintsEnabled', message })
  }
  hinted.add(id)
  return result.plan
}

/** The older annotation takes precedence; the newer one exists from 1.27 on. */
function wantsTopology({ service, level, product }: SlicesPass): boolean {
  const { annotations } = service.metadata
  const older = annotations?.[subdomainLabel(product, 'service', 'topology-aware-hints')]
  const newer = level < 27 ? undefined : annotations?.[subdomainLabel(product, 'service', 'topology-mode')]
  const mode = older ?? newer
  return mode === 'Auto' || mode === 'auto'
}

/** Nodes of the control plane serve no traffic. */
function zonedNodes({ nodes, names, product, writer }: SlicesPass) {
  const excluded = ['control-plane', 'master'].map((role) => subdomainLabel(product, 'node-role', role))
  const working = [...writer.world.read(nodes).values()].filter(({ metadata }) =>
    excluded.every((label) => metadata.labels?.[label] === undefined),
  )
  return working.map(({ metadata, status }) => {
    const cpu = parseQuantity(status.allocatable?.['cpu'] ?? '')
    return {
      isReady: status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
      zone: metadata.labels?.[names.zone],
      cpuMilli: cpu === undefined ? 0 : Number(roundUpQuantity(cpu, -3)),
    }
  })
}
