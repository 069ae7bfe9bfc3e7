import type { EventDraft } from '@orch/client'
import { printApiVersion } from '@orch/core/meta'
import type { ControllerContext } from '../controller.ts'
import { EventRecorder } from '../reconciler/events/recorder.ts'
import type { Node } from './graph.ts'
import type { OwnerReference } from './observed.ts'
import type { Owners, Standing } from './owners.ts'

/** Creates an Event about an owner reference that is invalid because of the owner's namespace. */
export type ReportMisplaced = (node: Node, owner: OwnerReference, standing: Standing) => Promise<void>

/** Maximum number of cached reports; each is made once. */
const reportedMax = 10_000
/** Maximum number of cached owners without a namespace; each is searched once. */
const nowhereMax = 10_000

/** Reports each owner of each object once. */
export function createReporter(context: ControllerContext, owners: Owners): ReportMisplaced {
  const recorder = new EventRecorder('garbage-collector-controller', context)
  const reported = new Set<string>()
  const nowhere = new Set<string>()
  return async (node, owner, standing) => {
    const key = `${node.uid}/${owner.uid}`
    if ((standing !== 'misplaced' && standing !== 'absent') || reported.has(key)) return
    if (standing === 'absent' && !(await isElsewhere(owner))) return
    if (reported.size >= reportedMax) reported.clear()
    reported.add(key)
    const { resource, uid, name, namespace } = node
    const about = { apiVersion: printApiVersion(resource.group, resource.version), kind: resource.kind, namespace, name, uid }
    recorder.record(about, draftOf(node, owner))
    await recorder.settled()
  }

  /** An owner that is absent in the object's namespace may be in another. */
  async function isElsewhere(owner: OwnerReference): Promise<boolean> {
    const { client, log, signal } = context
    const resource = owners.resourceOf(owner)
    if (resource === undefined) return false
    const key = `${resource.group}/${resource.plural}/${owner.name}/${owner.uid}`
    if (!resource.namespaced || owners.isGone(owner.uid) || nowhere.has(key)) return false
    try {
      const { items } = await client.resource(resource).listAll({ fieldSelector: `metadata.name=${owner.name}`, signal })
      if (items.some(({ metadata }) => metadata.uid === owner.uid)) return true
      if (nowhere.size >= nowhereMax) nowhere.clear()
      nowhere.add(key)
    } catch (error) {
      // The search only serves an Event, which is optional.
      log.debug({ err: error, owner: owner.name }, 'an owner could not be looked for in other namespaces')
    }
    return false
  }
}

/** The event of kube-controller-manager, which people and tools search for. */
function draftOf({ namespace }: Node, owner: OwnerReference): EventDraft {
  const place = namespace === undefined ? 'at cluster scope' : `in namespace ${JSON.stringify(namespace)}`
  const message = `ownerRef [${owner.apiVersion}/${owner.kind}, name: ${owner.name}, uid: ${owner.uid}] does not exist ${place}`
  return { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message }
}
