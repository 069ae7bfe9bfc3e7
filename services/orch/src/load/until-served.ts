import { type Client, ManifestError } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'

/** The longest time until the kind of a definition is served. */
const servedWithinMs = 10_000
const askAgainMs = 10

interface Definition extends ApiObject {
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean }[]
  }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[] }
}

/** Resolves when discovery lists every served version of a definition. Rejects with a ManifestError if a version will never be served. */
export async function untilServed(client: Client, object: ApiObject): Promise<void> {
  const { apiVersion, kind, metadata } = object
  const reference = { apiVersion, kind, name: metadata.name ?? '' }
  const { spec } = await client.objects.get<Definition>(reference)
  const endMs = systemClock.monotonic() + servedWithinMs
  for (const { name: version } of spec.versions.filter(({ served }) => served)) {
    while (!(await isServed(client, spec.group, version, spec.names.plural))) {
      const { status } = await client.objects.get<Definition>(reference)
      const refused = status?.conditions?.find((condition) => condition.type === 'NamesAccepted' && condition.status === 'False')
      if (refused !== undefined || systemClock.monotonic() > endMs) {
        throw new ManifestError(`${metadata.name}: version ${version} is not served: ${refused?.message ?? JSON.stringify(status)}`)
      }
      await sleep(systemClock, askAgainMs)
    }
  }
}

async function isServed(client: Client, group: string, version: string, plural: string): Promise<boolean> {
  try {
    return (await client.discover(group, version)).some((found) => found.plural === plural)
  } catch {
    return false
  }
}
