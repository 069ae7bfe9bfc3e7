import { type Client, type DiscoveredResource, isRefusal } from '@orch/client'

/** A kind of a group, in any version. */
export interface GroupKind {
  readonly group: string
  readonly kind: string
}

interface GroupDocument {
  readonly preferredVersion?: { readonly version: string }
  readonly versions?: readonly { readonly version: string }[]
}

/** The served versions of a group, the preferred one first. Empty if unserved. */
export async function versionsOf(client: Client, group: string, signal: AbortSignal): Promise<string[]> {
  if (group === '') return ['v1']
  try {
    const { preferredVersion, versions } = await client.request<GroupDocument>({ method: 'GET', path: `/apis/${group}`, signal })
    const all = [...(preferredVersion === undefined ? [] : [preferredVersion]), ...(versions ?? [])]
    return [...new Set(all.map(({ version }) => version))]
  } catch (error) {
    // The answer about an unknown group is not a Status, so that it has no reason.
    if (isRefusal(error, [404])) return []
    throw error
  }
}

/** The resource of a kind in the first version that has it; undefined for none. */
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

/** The message about an unknown kind, in the words of Go clients. */
export function noMatchMessage({ group, kind }: GroupKind): string {
  return `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`
}

/** The path of a group version. */
export function rootOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}
