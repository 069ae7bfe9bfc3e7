import type { Client, DiscoveredResource } from '@orch/client'
import { StatusError } from '@orch/core/meta'

/** A kind of a group, in whichever version. */
export interface GroupKind {
  readonly group: string
  readonly kind: string
}

interface GroupDocument {
  readonly preferredVersion?: { readonly version: string }
  readonly versions?: readonly { readonly version: string }[]
}

/** The versions in which a group is served, the preferred one first. Empty: it is not served. */
export async function versionsOf(client: Client, group: string, signal: AbortSignal): Promise<string[]> {
  if (group === '') return ['v1']
  try {
    const { preferredVersion, versions } = await client.request<GroupDocument>({ method: 'GET', path: `/apis/${group}`, signal })
    const all = [...(preferredVersion === undefined ? [] : [preferredVersion]), ...(versions ?? [])]
    return [...new Set(all.map(({ version }) => version))]
  } catch (error) {
    // The answer about an unknown group is no Status, so that it has no reason.
    if (error instanceof StatusError && error.code === 404) return []
    throw error
  }
}

/** The resource of a kind in the first version that has it. Undefined: no version has it. */
export async function resourceOfKind(
  client: Client,
  { group, kind }: GroupKind,
  signal: AbortSignal,
): Promise<DiscoveredResource | undefined> {
  for (const version of await versionsOf(client, group, signal)) {
    const found = (await client.discover(group, version)).find((resource) => resource.kind === kind)
    if (found !== undefined) return found
  }
  return undefined
}

/** The message about a kind that no version has, as Go's clients give it. */
export function noMatchMessage({ group, kind }: GroupKind): string {
  return `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`
}

/** The path of a group version. */
export function rootOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}
