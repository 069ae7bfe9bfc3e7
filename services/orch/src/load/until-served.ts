import { type Client, ManifestError } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { sleep, systemClock } from '@orch/platform'

/** The longest time until the kind of a definition is served. */
const servedWithinMs = 10_000
const askAgainMs = 10

type Definition = BuiltIn<'apiextensions/v1.CustomResourceDefinition'>

/** Resolves when discovery lists every served version of a definition. Rejects with a ManifestError if a version will never be served. */
export async function untilServed(client: Client, object: ApiObject): Promise<void> {
  const { apiVersion, kind, metadata } = object
  const reference = { apiVersion, kind, name: metadata.name ?? '' }
  const { spec } = await client.objects.get<Definition>(reference)
  const endMs = systemClock.monotonic() + servedWithinMs
  for (const { name: version } of (spec.versions ?? []).filter(({ served }) => served)) {
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
