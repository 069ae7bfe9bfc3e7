import {
  type ListOptions,
  type ResourceAddress,
  type ResourceClient,
  unlessGone,
  unlessRefused,
  type VersionedResource,
} from '@orch/client'
import { type ApiObject, printTime, StatusError, toInstant, withCondition } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import { messageOf } from '@orch/platform'
import { metadataListMediaType } from './informers/metadata-media-type.ts'
import { type ControllerContext, done, own, type Result, reconciler } from './reconciler/index.ts'

/** A request to store all objects of a resource again. */
type Migration = BuiltIn<'storagemigration/v1.StorageVersionMigration'>

const workersMax = 5
const pageSize = 500
/** Maximum number of objects of one migration written in parallel. */
const writesAtOnce = 8
/** An unserved resource may belong to a definition in progress. */
const discoveryMs = 60_000

/** Verbs of a resource that can be migrated. */
const neededVerbs = ['update', 'patch', 'list']
const completed = 'Migration completed'

/** Reasons of temporary failures, or failures that a repeated list resolves. */
const passing: ReadonlySet<string> = new Set([
  'ServerTimeout',
  'TooManyRequests',
  'ServiceUnavailable',
  'InternalError',
  'Timeout',
  'Expired',
])

/**
 * Stores the objects of a resource again for StorageVersionMigrations: each gets a patch without a change, and storage rewrites objects in an old
 * version or encrypted with an old key. An interrupted migration restarts with the same revision.
 */
export const storageVersionMigrator = reconciler<Migration>('storage-version-migrator', (context) => ({
  watches: [
    own<Migration>(`${domainGroup(context.names, 'storagemigration')}/v1`, 'storageversionmigrations', {
      isDue: ({ kind, object }) => kind !== 'deleted' && !hasEnded(object),
    }),
  ],
  workersMax,
  reconcile: ({ key }) => migrate(context, key),
}))

function addressOf(names: Names): ResourceAddress {
  return { group: domainGroup(names, 'storagemigration'), version: 'v1', plural: 'storageversionmigrations', namespaced: false }
}

function hasEnded({ status }: Migration): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type !== 'Running' && condition.status === 'True')
}

async function migrate(context: ControllerContext, name: string): Promise<Result> {
  const { client, names, clock, signal } = context
  const collection = client.resource<Migration>(addressOf(names))
  const found = await unlessGone(() => collection.get(name, { signal }))
  if (found === undefined || hasEnded(found) || found.metadata.deletionTimestamp != null) return done
  let live = found
  const now = printTime(toInstant(clock.now()))
  const write = async (status: Migration['status']): Promise<Result> => {
    live = await collection.update({ ...live, status: { ...live.status, ...status } }, { subresource: 'status', signal })
    return done
  }
  const end = (type: 'Succeeded' | 'Failed', message: string) => {
    const reason = `StorageVersionMigration${type}`
    const ended = { type: 'Running', status: 'False', lastTransitionTime: now, reason: 'MigrationCompleted', message: completed }
    const conditions = withCondition(live.status?.conditions, ended)
    return write({ conditions: withCondition(conditions, { type, status: 'True', lastTransitionTime: now, reason, message }) })
  }
  try {
    const served = await resourceOf(context, live)
    if (served === undefined) return await end('Failed', 'resource does not exist in discovery')
    if (!neededVerbs.every((verb) => served.verbs.includes(verb))) return await end('Failed', unmigratable(served))
    const objects = client.resource(served)
    const resourceVersion = live.status?.resourceVersion ?? (await revisionOf(context, objects))
    const running = {
      type: 'Running',
      status: 'True',
      lastTransitionTime: now,
      reason: 'MigrationRunning',
      message: 'The migration is running',
    }
    await write({ resourceVersion, conditions: withCondition(live.status?.conditions, running) })
    await storeAgain(context, objects, Number(resourceVersion))
    return await end('Succeeded', completed)
  } catch (error) {
    if (!(error instanceof StatusError) || passing.has(error.reason) || error.reason === 'Conflict') throw error
    return end('Failed', `migration encountered unhandled error: ${messageOf(error)}`)
  }
}

function unmigratable({ group, version, plural }: VersionedResource): string {
  return `resource "${group}/${version}, Resource=${plural}" does not support discovery operations: [${neededVerbs.join(' ')}]`
}

/** The resource in the preferred version; undefined if it is unserved, and no longer expected. */
async function resourceOf({ client, clock }: ControllerContext, migration: Migration): Promise<VersionedResource | undefined> {
  const { group = '', resource } = migration.spec.resource
  const { resources, undiscovered } = await client.discoverVersions()
  const found = resources.filter((one) => one.group === group && one.plural === resource)
  const served = found.find(({ isPreferred }) => isPreferred) ?? found[0]
  const age = clock.now() - Date.parse(String(migration.metadata.creationTimestamp))
  const mayCome = age < discoveryMs || undiscovered.some((one) => one.group === group)
  if (served === undefined && mayCome) throw new Error(`${resource}.${group} is not served yet`)
  return served
}

async function revisionOf({ names, signal }: ControllerContext, objects: ResourceClient): Promise<string> {
  const { metadata } = await objects.list({ limit: 1, accept: metadataListMediaType(names), signal })
  return metadata.resourceVersion ?? ''
}

/** Writes all objects that are not newer than the revision, page by page. */
async function storeAgain(context: ControllerContext, objects: ResourceClient, revision: number): Promise<void> {
  const { names, signal } = context
  const page: ListOptions = { limit: pageSize, accept: metadataListMediaType(names), signal }
  let next: string | undefined
  do {
    const { items, metadata } = await objects.list({ ...page, continue: next })
    const old = items.filter((object) => Number(object.metadata.resourceVersion) <= revision)
    for (let first = 0; first < old.length; first += writesAtOnce) {
      await Promise.all(old.slice(first, first + writesAtOnce).map((object) => touch(context, objects, object)))
    }
    next = metadata.continue
  } while (next !== undefined && next !== '')
}

/** Writes one object unchanged. An object that was changed or deleted meanwhile needs no write. */
async function touch({ signal }: ControllerContext, objects: ResourceClient, { metadata }: ApiObject): Promise<void> {
  const { name = '', namespace, uid, resourceVersion } = metadata
  const patch = { metadata: { uid, resourceVersion } }
  await unlessRefused(['Conflict', 'NotFound'], () => objects.patch(name, patch, { type: 'merge', namespace, signal }))
}
