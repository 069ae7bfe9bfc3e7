import { everything } from '@orch/core/contracts'
import type { ApiObject } from '@orch/core/meta'
import { parseStored } from '@orch/core/schema'
import { limits } from '../limits.ts'
import type { PluginNeeds } from '../plugin.ts'
import type { Judge } from './baseline.ts'
import { evaluatePod, printReasons } from './evaluate.ts'
import { type LevelVersion, printLevelVersion } from './policy.ts'
import { podView } from './templates.ts'

export interface NamespacePods extends Pick<PluginNeeds, 'storage' | 'clock'> {
  readonly judge: Judge
  readonly namespace: string
  /** The enforced level of the namespace. */
  readonly enforce: LevelVersion
  readonly exemptRuntimeClasses: ReadonlySet<string>
  /** Remaining time of the request; undefined if no request waits. */
  readonly remainingMs: number | undefined
}

/** Warnings about existing Pods that would now be refused. The number of checked Pods depends on the remaining time. */
export async function warnOfPods(request: NamespacePods): Promise<readonly string[]> {
  const { clock, namespace, enforce } = request
  const deadlineMs = clock.monotonic() + Math.min(limits.podSecurityCheckMs, (request.remainingMs ?? Number.POSITIVE_INFINITY) / 2)
  let listed: Awaited<ReturnType<typeof listPods>>
  try {
    listed = await listPods(request)
  } catch {
    return ['failed to list pods while checking new PodSecurity enforce level']
  }
  const found = new Map<string, { readonly pod: string; count: number }>()
  let checked = 0
  for (const pod of oneOfEachOwnerFirst(listed.pods)) {
    const reasons = reasonsOf(pod, request)
    checked++
    const known = found.get(reasons)
    if (known !== undefined) known.count++
    else if (reasons !== '') found.set(reasons, { pod: pod.metadata.name ?? '', count: 1 })
    if (clock.monotonic() > deadlineMs) break
  }
  const warnings: string[] = []
  if (checked < listed.total) {
    warnings.push(`new PodSecurity enforce level only checked against the first ${checked} of ${listed.total} existing pods`)
  }
  if (found.size > 0) {
    const level = printLevelVersion(enforce)
    warnings.push(`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${level}"`)
  }
  return [...warnings, ...[...found].map(([reasons, { pod, count }]) => `${pod}${others(count - 1)}: ${reasons}`).sort()]
}

function reasonsOf(pod: ApiObject, { enforce, judge, exemptRuntimeClasses }: NamespacePods): string {
  const view = podView(pod)
  if (exemptRuntimeClasses.has(view.spec.runtimeClassName ?? '')) return ''
  return printReasons(evaluatePod(enforce, view, judge))
}

function others(count: number): string {
  if (count === 0) return ''
  return count === 1 ? ' (and 1 other pod)' : ` (and ${count} other pods)`
}

/** Pods of one owner are similar, so a Pod of each owner is checked first. */
function oneOfEachOwnerFirst(pods: readonly ApiObject[]): readonly ApiObject[] {
  const owners = new Set<string>()
  const first: ApiObject[] = []
  const alike: ApiObject[] = []
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid
    if (owner !== undefined && owners.has(owner)) alike.push(pod)
    else first.push(pod)
    if (owner !== undefined) owners.add(owner)
  }
  return [...first, ...alike]
}

async function listPods({ storage, namespace }: NamespacePods) {
  const pods: ApiObject[] = []
  let remaining = 0
  const scope = { resource: 'core/pods', namespace }
  const limit = limits.podSecurityPodsMax
  for await (const part of storage.list({ scope, selection: everything, read: { kind: 'latest' }, limit, start: '', layout: 'entries' })) {
    switch (part.kind) {
      case 'head':
        remaining = part.remaining ?? 0
        break
      case 'entries':
        for (const { value } of part.entries) pods.push(parseStored('core/v1.Pod', value))
        break
      case 'chunk':
        throw new Error('storage has sent joined objects instead of the requested entries')
    }
  }
  return { pods, total: pods.length + remaining }
}
