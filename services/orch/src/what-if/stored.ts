import { type Client, unlessRefused, type VersionedResource } from '@orch/client'
import { type DumpedObject, parsedObject } from '../load/dumped-object.ts'
import { skippedKinds } from '../load/load.ts'

/** The objects of a server that a load takes, each in the preferred version of its group. */
export async function objectsOfServer(client: Client, server: string): Promise<DumpedObject[]> {
  const { resources } = await client.discoverAll()
  const found: DumpedObject[] = []
  for (const resource of resources) {
    if (!resource.verbs.includes('list') || skippedKinds.includes(resource.kind)) continue
    const { group, version, kind } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    for (const item of await itemsOf(client, resource)) found.push(parsedObject({ ...item, apiVersion, kind }, server))
  }
  return found
}

/** All objects of a resource; empty for a resource that was removed after discovery. */
export async function itemsOf(client: Client, resource: Pick<VersionedResource, 'group' | 'version' | 'plural' | 'namespaced'>) {
  return (await unlessRefused([404, 405], () => client.resource(resource).listAll()))?.items ?? []
}
