import { type ResourceAddress, type ResourceClient, unlessGone } from '@orch/client'
import type { Catalogue } from '@orch/core/catalogue'
import {
  cleanupFinalizer,
  isConditionTrue,
  specOf,
  statusOf,
  type TerminationStep,
  terminatingStatus,
  versionsServed,
} from '@orch/core/definitions'
import { getOrMake } from '@orch/core/memo'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { messageOf } from '@orch/platform'
import { metadataListMediaType } from './informers/metadata-media-type.ts'
import { type Controller, type ControllerContext, done, mapped, own, type Result, reconciler, requeueAfter } from './reconciler/index.ts'

/** Interval between checks of objects that wait for finalizers of others, and of names that another definition has. */
const remainingRetryMs = 1_000
const conflictRetryMs = 5_000
/** When a definition of the group changes, its released names are free a moment later, after another commit: delay and number of the first checks. */
const conflictSoonMs = 200
const conflictSoonTimes = 3
/** Time that objects may remain before the definition reports them. */
const unconfirmedMs = 60_000
const workersMax = 4

/**
 * Deletes the objects of definitions under deletion, and then releases the definitions; rechecks names that another definition had. Each write of a
 * definition settles its names and conditions.
 */
export function definitionController(catalogue: Catalogue): Controller {
  return reconciler('customresourcedefinition', (context) => {
    const { names } = context
    const cleanups = new Map<string, number>()
    // There may be thousands of definitions, and almost all have their names.
    const unsettled = new Map<string, Unsettled>()
    const groupVersion = `${domainGroup(names, 'apiextensions')}/v1`
    const definitions = own(groupVersion, 'customresourcedefinitions', { keep: withoutSchemas })
    const ofGroup = mapped(groupVersion, 'customresourcedefinitions', ({ object }) => wakeGroup(unsettled, object), {
      keep: withoutSchemas,
    })
    return {
      watches: [definitions, ofGroup],
      workersMax,
      reconcile: async ({ key, object: definition }) => {
        if (isGoing(definition, names)) return cleanUp({ context, catalogue, name: key, cleanups })
        if (definition.metadata.deletionTimestamp != null || isConditionTrue({ ...definition }, 'NamesAccepted')) {
          unsettled.delete(key)
          return done
        }
        const waiting = getOrMake(unsettled, key, () => ({ group: specOf({ ...definition }).group, times: 0 }))
        await settle(context, key)
        return requeueAfter(waiting.times++ < conflictSoonTimes ? conflictSoonMs : conflictRetryMs)
      },
      absent: async ({ key }) => {
        unsettled.delete(key)
        return done
      },
    }
  })
}

/** Definitions without their names, whose group has changed. */
function wakeGroup(unsettled: ReadonlyMap<string, Unsettled>, changed: ApiObject): string[] {
  const { group } = specOf({ ...changed })
  const woken = [...unsettled].filter(([, waiting]) => waiting.group === group)
  for (const [, waiting] of woken) waiting.times = 0
  return woken.map(([name]) => name)
}

/** A definition without some of its names. */
interface Unsettled {
  readonly group: string | undefined
  /** Number of checks since the last change of a definition in its group. */
  times: number
}

function addressOf(names: Names): ResourceAddress {
  return { group: domainGroup(names, 'apiextensions'), version: 'v1', plural: 'customresourcedefinitions', namespaced: false }
}

/** The definition without its schemas, which may be a thousand times larger than the rest. */
function withoutSchemas(definition: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = definition.metadata
  const { group } = specOf({ ...definition })
  return { apiVersion: definition.apiVersion, kind: definition.kind, metadata, spec: { group }, status: statusOf({ ...definition }) }
}

function isGoing({ metadata }: ApiObject, names: Names): boolean {
  return metadata.deletionTimestamp != null && metadata.finalizers?.includes(cleanupFinalizer(names)) === true
}

/** Every write settles names, even one without a change. */
async function settle({ client, names, signal }: ControllerContext, name: string): Promise<void> {
  const collection = client.resource(addressOf(names))
  await unlessGone(() => collection.patch(name, {}, { type: 'merge', subresource: 'status', signal }))
}

interface CleanUp {
  readonly context: ControllerContext
  readonly catalogue: Catalogue
  readonly name: string
  /** Start of the deletion of a definition's objects, by its uid. */
  readonly cleanups: Map<string, number>
}

async function cleanUp({ context, catalogue, name, cleanups }: CleanUp): Promise<Result> {
  const { client, clock, names, signal } = context
  const collection = client.resource(addressOf(names))
  const found = await unlessGone(() => collection.get(name, { signal }))
  if (found === undefined || !isGoing(found, names)) return done
  let live = found
  const write = async (step: TerminationStep, isLast = false): Promise<Result> => {
    const status = terminatingStatus({ ...live }, step, printTime(toInstant(clock.now())))
    const finalizers = (live.metadata.finalizers ?? []).filter((finalizer) => !isLast || finalizer !== cleanupFinalizer(names))
    const next = { ...live, metadata: { ...live.metadata, finalizers }, status }
    live = await collection.update(next, { subresource: 'status', signal })
    return done
  }
  const uid = live.metadata.uid ?? ''
  const { group = '', names: wanted = {} } = specOf({ ...live })
  if (catalogue.resources.some((resource) => resource.group === group && resource.plural === wanted.plural)) {
    return write({ kind: 'overlapping' }, true)
  }
  if (!isConditionTrue({ ...live }, 'Established')) return write({ kind: 'neverEstablished' }, true)
  const since = getOrMake(cleanups, uid, () => clock.monotonic())
  // Another status write would change nothing until the deletion ends, and each change of the status enqueues the definition again.
  if (!begun.some((reason) => saysReason(live, reason))) await write({ kind: 'inProgress' })
  const instances = instancesOf(context, catalogue, live)
  const outcome = instances === undefined ? 'gone' : await deleteInstances(context, instances)
  if (outcome === 'gone') {
    cleanups.delete(uid)
    return write({ kind: 'completed' }, true)
  }
  if (outcome !== 'remaining') {
    await write({ kind: 'failed', message: outcome.failure })
    throw outcome.cause
  }
  if (saysReason(live, 'InstanceDeletionFailed')) await write({ kind: 'inProgress' })
  const isLate = clock.monotonic() - since >= unconfirmedMs && !saysReason(live, 'InstanceDeletionCheck')
  if (isLate) await write({ kind: 'unconfirmed', message: 'timed out waiting for the condition' })
  return requeueAfter(remainingRetryMs)
}

const begun = ['InstanceDeletionInProgress', 'InstanceDeletionCheck', 'InstanceDeletionFailed']

function saysReason(definition: ApiObject, reason: string): boolean {
  return (statusOf({ ...definition }).conditions ?? []).some((condition) => condition.reason === reason)
}

/**
 * The objects of a definition, in the stored version if that is served, so that no object has to be converted. Undefined if all its versions are built-in
 * versions of the group, which serve no objects of definitions.
 */
function instancesOf({ client }: ControllerContext, catalogue: Catalogue, definition: ApiObject): ResourceClient | undefined {
  const { group = '', names = {}, scope } = specOf({ ...definition })
  const builtIn = catalogue.group(group)?.versions ?? []
  const served = versionsServed({ ...definition }).filter(({ name = '' }) => !builtIn.includes(name))
  const { name: version } = served.find(({ storage }) => storage === true) ?? served[0] ?? {}
  if (version === undefined) return undefined
  return client.resource({ group, version, plural: names.plural ?? '', namespaced: scope === 'Namespaced' })
}

/** Deletes all objects, namespace by namespace, like other clients. */
async function deleteInstances(
  { names, signal }: ControllerContext,
  collection: ResourceClient,
): Promise<'gone' | 'remaining' | { readonly failure: string; readonly cause: unknown }> {
  const accept = metadataListMediaType(names)
  const list = () => collection.listAll({ accept, signal })
  let doing = 'could not list instances'
  try {
    const before = await list()
    const namespaces = new Set(before.items.map(({ metadata }) => metadata.namespace))
    doing = 'could not issue all deletes'
    for (const namespace of namespaces) {
      await collection.deleteCollection(
        { ...(namespace !== undefined && { namespace }), accept, signal },
        { propagationPolicy: 'Background' },
      )
    }
    doing = 'could not list instances'
    return (await list()).items.length === 0 ? 'gone' : 'remaining'
  } catch (cause) {
    if (signal.aborted) throw cause
    return { failure: `${doing}: ${messageOf(cause)}`, cause }
  }
}
