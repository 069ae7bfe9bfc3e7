import { type DeleteOptions, type DiscoveredResource, unlessGone } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { ControllerContext } from '../controller.ts'
import type { Metadata, OwnerReference } from './observed.ts'

/** One object by uid: another uid with the same name is another object. */
export interface Identity {
  readonly uid: string
  readonly name: string
  readonly namespace: string | undefined
}

/** The current metadata of the object; undefined if it was deleted. */
export async function getLive(
  { client, signal }: ControllerContext,
  resource: DiscoveredResource,
  { uid, name, namespace }: Identity,
): Promise<Metadata | undefined> {
  const object = await unlessGone(() => client.resource(resource).get(name, { namespace, signal }))
  return object?.metadata.uid === uid ? object.metadata : undefined
}

/** Replaces the owners of the object if it is unchanged since its read. Does nothing for a deleted object. */
export async function patchOwners(
  context: ControllerContext,
  resource: DiscoveredResource,
  live: Metadata,
  ownerReferences: readonly OwnerReference[],
): Promise<void> {
  await patchMetadata(context, resource, live, { ownerReferences: ownerReferences.length === 0 ? null : ownerReferences })
}

/** Removes one finalizer if the object is unchanged since its read. */
export async function removeFinalizer(
  context: ControllerContext,
  resource: DiscoveredResource,
  live: Metadata,
  finalizer: string,
): Promise<void> {
  const finalizers = (live.finalizers ?? []).filter((present) => present !== finalizer)
  await patchMetadata(context, resource, live, { finalizers: finalizers.length === 0 ? null : finalizers })
}

/** Deletes the object if it is unchanged since its read, as it may have got an owner since. */
export async function deleteLive(
  { client, signal }: ControllerContext,
  resource: DiscoveredResource,
  { uid = '', resourceVersion = '', name = '', namespace }: Metadata,
  propagationPolicy: DeleteOptions['propagationPolicy'],
): Promise<void> {
  const body: DeleteOptions = { ...(propagationPolicy === undefined ? {} : { propagationPolicy }), preconditions: { uid, resourceVersion } }
  await unlessGone(() => client.resource(resource).delete(name, { namespace, signal }, body))
}

async function patchMetadata(
  { client, signal }: ControllerContext,
  resource: DiscoveredResource,
  { uid, resourceVersion, name = '', namespace }: Metadata,
  change: Record<string, unknown>,
): Promise<void> {
  const patch = { metadata: { uid, resourceVersion, ...change } }
  await unlessGone(() => client.resource<ApiObject>(resource).patch(name, patch, { type: 'merge', namespace, signal }))
}
