import { printApiVersion, printTime, toInstant } from '@orch/core/meta'
import type { ControllerContext } from '../controller.ts'
import type { Node } from './graph.ts'
import type { OwnerReference } from './observed.ts'
import type { Owners, Standing } from './owners.ts'

/** Tells by an Event that an object names an owner in a place from which it can't own it. */
export type ReportMisplaced = (node: Node, owner: OwnerReference, standing: Standing) => Promise<void>

const events = { group: '', version: 'v1', plural: 'events', namespaced: true } as const
/** Characters of the object's name in that of its Event. */
const eventNameMax = 240
/** Reports that are remembered, so that each is made once. */
const reportedMax = 10_000
/** Owners that are remembered to be in no namespace, so that each is looked for once. */
const nowhereMax = 10_000

/** Reports each owner of each object once. */
export function createReporter(context: ControllerContext, owners: Owners): ReportMisplaced {
  const reported = new Set<string>()
  const nowhere = new Set<string>()
  return async (node, owner, standing) => {
    const key = `${node.uid}/${owner.uid}`
    if ((standing !== 'misplaced' && standing !== 'absent') || reported.has(key)) return
    if (standing === 'absent' && !(await isElsewhere(owner))) return
    if (reported.size >= reportedMax) reported.clear()
    reported.add(key)
    await createEvent(node, owner, context)
  }

  /** An owner that is absent from the object's namespace may be in another. */
  async function isElsewhere(owner: OwnerReference): Promise<boolean> {
    const { client, log, signal } = context
    const resource = owners.resourceOf(owner)
    const key = `${resource.group}/${resource.plural}/${owner.name}/${owner.uid}`
    if (!resource.namespaced || owners.isGone(owner.uid) || nowhere.has(key)) return false
    try {
      const { items } = await client.resource(resource).listAll({ fieldSelector: `metadata.name=${owner.name}`, signal })
      if (items.some(({ metadata }) => metadata.uid === owner.uid)) return true
      if (nowhere.size >= nowhereMax) nowhere.clear()
      nowhere.add(key)
    } catch (error) {
      // It is asked for an Event only, which is a courtesy.
      log.debug({ err: error, owner: owner.name }, 'an owner could not be looked for in other namespaces')
    }
    return false
  }
}

async function createEvent({ resource, uid, name, namespace }: Node, owner: OwnerReference, context: ControllerContext): Promise<void> {
  const { client, clock, random, log, signal } = context
  const now = printTime(toInstant(clock.now()))
  const place = namespace === undefined ? 'at cluster scope' : `in namespace ${JSON.stringify(namespace)}`
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name.slice(0, eventNameMax)}.${Math.floor(random() * 2 ** 48).toString(16)}`,
      namespace: namespace ?? 'default',
    },
    involvedObject: {
      kind: resource.kind,
      apiVersion: printApiVersion(resource.group, resource.version),
      name,
      uid,
      ...(namespace === undefined ? {} : { namespace }),
    },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef [${owner.apiVersion}/${owner.kind}, name: ${owner.name}, uid: ${owner.uid}] does not exist ${place}`,
    source: { component: 'garbage-collector-controller' },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
  // An Event is a courtesy; the collector goes on without it.
  await client
    .resource(events)
    .create(event, { signal })
    .catch((error: unknown) => log.debug({ err: error }, 'an event could not be written'))
}
