import { type Client, sendJson } from '@orch/client'
import { type ApiObject, parseRevision } from '@orch/core/meta'
import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import type { Node, Pod } from '@orch/core/workloads'
import { unlessOutdated } from './following.ts'
import type { TokenSource } from './pod-volumes.ts'

/** The address of all Nodes, and that of all Pods. */
export const nodes = { group: '', version: 'v1', plural: 'nodes', namespaced: false } as const
export const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true } as const

/** Writes the status of a Pod; returns the resulting Pod. Undefined without a patch, or if the Pod is gone. */
export function writePodStatus(client: Client, pod: Pod, patch: object | undefined, signal: AbortSignal): Promise<Pod | undefined> {
  const { name = '', namespace } = pod.metadata
  if (patch === undefined) return Promise.resolve(undefined)
  return unlessOutdated(client.resource<Pod>(pods).patch(name, patch, { type: 'strategic', subresource: 'status', namespace, signal }))
}

/** The last step of a graceful deletion. */
export async function deletePod(client: Client, { metadata: { name = '', namespace, uid } }: Pod, signal: AbortSignal): Promise<void> {
  await unlessOutdated(client.resource<Pod>(pods).delete(name, { namespace, signal }, { gracePeriodSeconds: 0, preconditions: { uid } }))
}

/** A token of the account of a Pod, which is valid while the Pod exists. */
export async function requestToken(
  { transport }: Client,
  { metadata: { name, namespace, uid }, spec: { serviceAccountName } }: Pod,
  { source: { audience, expirationSeconds }, names }: { readonly source: TokenSource; readonly names: Names },
): Promise<string> {
  const spec = { audiences: audience ? [audience] : [], expirationSeconds, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } }
  const body = { apiVersion: `${domainGroup(names, 'authentication')}/v1`, kind: 'TokenRequest', spec }
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccountName}/token`
  const { status } = await sendJson<{ readonly status: { readonly token: string } }>(transport, { method: 'POST', path, body })
  return status.token
}

/** Deletes a Node, if it exists. */
export async function deleteNode(client: Client, name: string): Promise<void> {
  await unlessOutdated(client.resource(nodes).delete(name))
}

/** The newer of the Pod's last written and its watched state. */
export function newest(written: Pod | undefined, cached: Pod): Pod {
  return written !== undefined && revisionOf(written) > revisionOf(cached) ? written : cached
}

function revisionOf({ metadata: { resourceVersion = '' } }: ApiObject): number {
  return parseRevision(resourceVersion) ?? 0
}

/** Removes the taint of new nodes before the node controller does, so that the first Pods, also after a reset, need not wait. */
export async function untaint(
  { metadata: { name = '' }, spec: { taints = [] } }: Node,
  { client, names }: { readonly client: Client; readonly names: Names },
  signal: AbortSignal,
): Promise<void> {
  const notReady = subdomainLabel(names, 'node', 'not-ready')
  const left = taints.filter(({ key }) => key !== notReady)
  if (left.length === taints.length) return
  await client.resource(nodes).patch(name, { spec: { taints: left } }, { type: 'merge', signal })
}

/** `namespace/name`. */
export function keyOf({ metadata: { namespace = '', name = '' } }: ApiObject): string {
  return `${namespace}/${name}`
}

/** The parts of such a key. */
export function nameAndNamespace(key: string): [name: string, namespace: string] {
  const slash = key.indexOf('/')
  return [key.slice(slash + 1), key.slice(0, slash)]
}
