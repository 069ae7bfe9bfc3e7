import { type DiscoveredResource, resourcePath, undiscoveredMessage, unlessGone } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { messageOf } from '@orch/platform'
import { metadataListMediaType } from './informers/metadata-media-type.ts'
import { type Controller, type ControllerContext, done, own, type Result, reconciler, requeueAfter } from './reconciler/index.ts'

type Namespace = BuiltIn<'core/v1.Namespace'>

const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false } as const
const workersMax = 5
const podsName = 'pods.'
/** Interval between checks of contents that wait for finalizers of others. */
const remainingRetryMs = 1_000

/** Delay of kube-controller-manager before it empties a namespace. */
export const usualNamespaceDelayMs = 5_000

/**
 * Empties namespaces under deletion, then releases them by removing the profile's finalizer. It waits first, so that a client that deletes a namespace
 * together with its objects still finds these. `isOrdered`: the gate OrderedNamespaceDeletion.
 */
export const namespaceController = (delayMs: number, isOrdered: boolean): Controller =>
  reconciler('namespace', (context) => ({
    watches: [
      own('v1', 'namespaces', {
        isDue: ({ kind, object }) => kind !== 'deleted' && isTerminating(object),
        delayMs: () => delayMs,
      }),
    ],
    workersMax,
    reconcile: ({ key }) => finish(context, key, isOrdered),
  }))

function isTerminating({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null
}

async function finish(context: ControllerContext, name: string, isOrdered: boolean): Promise<Result> {
  const { client, names, signal } = context
  const live = await unlessGone(() => client.resource<Namespace>(namespaces).get(name, { signal }))
  if (live === undefined || !isTerminating(live) || live.spec?.finalizers?.includes(names.namespaceFinalizer) !== true) return done
  const report = await deleteContents(context, name, isOrdered)
  const isEmpty = report.failures.length === 0 && report.undiscovered === undefined && report.remaining.size === 0
  // No client would read the conditions of a namespace that is deleted at once.
  const isLast = isEmpty && live.status?.conditions === undefined && live.spec.finalizers.length === 1
  const written = isLast ? live : await writeConditions(context, live, isOrdered ? withoutPods(report) : report)
  if (!isEmpty) return requeueAfter(remainingRetryMs)
  await removeFinalizer(context, written)
  return done
}

/**
 * Deletes all contents, and reports the remaining ones. Pods are deleted first. If `isOrdered`, all other objects stay until the Pods are gone, since
 * running Pods use network policies and service accounts.
 */
async function deleteContents(context: ControllerContext, namespace: string, isOrdered: boolean): Promise<ContentReport> {
  const report: ContentReport = { undiscovered: undefined, failures: [], remaining: new Map(), finalizers: new Map() }
  const found = await discover(context, report)
  const arePods = ({ group, plural }: DiscoveredResource) => group === '' && plural === 'pods'
  for (const resource of found.toSorted((a, b) => Number(arePods(b)) - Number(arePods(a)))) {
    if (isOrdered && report.remaining.has(podsName)) return report
    try {
      await deleteAll(context, namespace, resource, report)
    } catch (error) {
      if (context.signal.aborted) throw error
      report.failures.push(messageOf(error))
    }
  }
  return report
}

/** A group version without discovery keeps the namespace, but not its other contents. */
async function discover({ client }: ControllerContext, report: ContentReport): Promise<DiscoveredResource[]> {
  try {
    const { resources, undiscovered } = await client.discoverAll()
    if (undiscovered.length > 0) {
      report.undiscovered = `Discovery failed for some groups, ${undiscovered.length} failing: ${undiscoveredMessage(undiscovered)}`
    }
    return resources.filter(({ namespaced, verbs }) => namespaced && verbs.includes('deletecollection') && verbs.includes('list'))
  } catch (error) {
    report.undiscovered = messageOf(error)
    return []
  }
}

async function deleteAll(
  { client, names, clock, signal }: ControllerContext,
  namespace: string,
  resource: DiscoveredResource,
  report: ContentReport,
): Promise<void> {
  const collection = client.resource(resource)
  // Metadata is available even if objects cannot be converted.
  const accept = metadataListMediaType(names)
  if ((await collection.list({ namespace, limit: 1, accept, signal })).items.length === 0) return
  await collection.deleteCollection({ namespace, accept, signal }, { propagationPolicy: 'Background' })
  const { items } = await collection.listAll({ namespace, accept, signal })
  if (items.length === 0) return
  report.remaining.set(`${resource.plural}.${resource.group}`, items.length)
  for (const { metadata } of items) {
    for (const finalizer of metadata.finalizers ?? []) report.finalizers.set(finalizer, (report.finalizers.get(finalizer) ?? 0) + 1)
  }
  if (items.every((item) => !isExpectedToGo(item, clock.now()))) {
    const { group, version, plural } = resource
    throw new Error(`unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`)
  }
}

/** True if an object waits for a finalizer or for the end of its grace period. */
function isExpectedToGo({ metadata: { finalizers = [], deletionTimestamp } }: ApiObject, nowMs: number): boolean {
  return finalizers.length > 0 || (deletionTimestamp != null && Date.parse(deletionTimestamp) > nowMs)
}

/** The conditions count no contents while other objects wait for the Pods. */
function withoutPods(report: ContentReport): ContentReport {
  return report.remaining.has(podsName) ? { ...report, remaining: new Map(), finalizers: new Map() } : report
}

async function removeFinalizer({ client, names, signal }: ControllerContext, live: Namespace): Promise<void> {
  const finalizers = (live.spec?.finalizers ?? []).filter((finalizer) => finalizer !== names.namespaceFinalizer)
  const path = resourcePath(namespaces, undefined, live.metadata.name, 'finalize')
  await client.request({ method: 'PUT', path, body: { ...live, spec: { ...live.spec, finalizers } }, signal })
}

/** Writes only changes, so that a waiting namespace does not cause a write every second. */
async function writeConditions({ client, clock, signal }: ControllerContext, live: Namespace, report: ContentReport): Promise<Namespace> {
  const before = live.status?.conditions ?? []
  const conditions = namespaceConditions(before, report, clock.now())
  if (conditions === before) return live
  const next: Namespace = { ...live, status: { ...live.status, conditions } }
  return client.resource<Namespace>(namespaces).update(next, { subresource: 'status', signal })
}

export type NamespaceCondition = BuiltIn<'core/v1.NamespaceCondition'>

/** The result of one attempt to empty a namespace. */
export interface ContentReport {
  /** The reason why not all resources could be discovered. */
  undiscovered: string | undefined
  /** The objects that could not be deleted, with the reason. */
  failures: string[]
  /** Remaining objects by resource: `pods.`, `deployments.apps`. */
  remaining: Map<string, number>
  /** Remaining objects by finalizer. */
  finalizers: Map<string, number>
}

interface Verdict {
  readonly type: string
  /** Undefined without a problem. */
  readonly problem: string | undefined
  readonly reason: { readonly bad: string; readonly good: string }
  readonly good: string
}

/** The conditions of a namespace after an attempt to empty it; conditions of other writers are kept. Returns the same list if nothing has changed. */
export function namespaceConditions(
  before: readonly NamespaceCondition[],
  report: ContentReport,
  nowMs: number,
): readonly NamespaceCondition[] {
  const time = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  let isChanged = false
  const next = [...before]
  for (const verdict of verdicts(report)) {
    const index = next.findIndex(({ type }) => type === verdict.type)
    const condition = toCondition(verdict, next[index], time)
    if (condition === next[index]) continue
    isChanged = true
    if (index < 0) next.push(condition)
    else next[index] = condition
  }
  return isChanged ? next : before
}

function toCondition({ type, problem, reason, good }: Verdict, before: NamespaceCondition | undefined, time: string): NamespaceCondition {
  const status = problem === undefined ? 'False' : 'True'
  const message = problem ?? good
  if (before?.status === status && before.message === message) return before
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time
  return { type, status, lastTransitionTime, reason: problem === undefined ? reason.good : reason.bad, message }
}

/** In the words of kube-apiserver, which people and tools search for. */
function verdicts({ undiscovered, failures, remaining, finalizers }: ContentReport): Verdict[] {
  const contentFailure = `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      problem: undiscovered,
      reason: { bad: 'DiscoveryFailed', good: 'ResourcesDiscovered' },
      good: 'All resources successfully discovered',
    },
    {
      // Group versions are checked when they are registered, so that all can be parsed.
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      problem: undefined,
      reason: { bad: 'GroupVersionParsingFailed', good: 'ParsedGroupVersions' },
      good: 'All legacy kube types successfully parsed',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      problem: failures.length === 0 ? undefined : contentFailure,
      reason: { bad: 'ContentDeletionFailed', good: 'ContentDeleted' },
      good: 'All content successfully deleted, may be waiting on finalization',
    },
    {
      type: 'NamespaceContentRemaining',
      problem: remaining.size === 0 ? undefined : `Some resources are remaining: ${printCounts(remaining, 'has')}`,
      reason: { bad: 'SomeResourcesRemain', good: 'ContentRemoved' },
      good: 'All content successfully removed',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      problem:
        finalizers.size === 0 ? undefined : `Some content in the namespace has finalizers remaining: ${printCounts(finalizers, 'in')}`,
      reason: { bad: 'SomeFinalizersRemain', good: 'ContentHasNoFinalizers' },
      good: 'All content-preserving finalizers finished',
    },
  ]
}

function printCounts(counts: ReadonlyMap<string, number>, word: string): string {
  return [...counts]
    .map(([name, count]) => `${name} ${word} ${count} resource instances`)
    .toSorted()
    .join(', ')
}
