import { type Client, isRefusal } from '@orch/client'
import type { Names } from '@orch/core/names'
import { scriptKinds } from '@orch/core/pod-life'

/** Creates the kinds of scripts, or updates their schemas. */
export async function installScriptKinds(client: Client, names: Names): Promise<void> {
  await Promise.all(
    scriptKinds(names).map(async (definition) => {
      try {
        await client.objects.create(definition)
      } catch (error) {
        if (!isRefusal(error, ['AlreadyExists'])) throw error
        const { apiVersion, kind, metadata, spec } = definition
        await client.objects.patch({ apiVersion, kind, name: metadata.name ?? '' }, { spec }, { type: 'merge' })
      }
    }),
  )
}
