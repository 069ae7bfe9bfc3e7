import { printApiVersion } from '../meta/api-version.ts'
import type { Names } from '../names.ts'
import { groupVersionOf, packageOf, typeNamesAt, typeOf } from '../schema/resolve.ts'

/** Kinds that every group version accepts in bodies: what a request may carry beside objects. */
const sharedKinds = ['DeleteOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions', 'GetOptions', 'ListOptions', 'WatchEvent']
/** Kinds of the metadata package that are written with the bare version. */
const unversionedKinds = ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']

/** `<apiVersion>/<name>` → type, for every type of a group version that a level has. */
export function typesByKind(names: Names, level: number): Map<string, string> {
  const types = new Map<string, string>()
  const apiVersions = new Set<string>()
  for (const type of typeNamesAt(level)) {
    const { group, version } = groupVersionOf(names, packageOf(type))
    const apiVersion = printApiVersion(group, version)
    apiVersions.add(apiVersion)
    types.set(`${apiVersion}/${typeOf(type)}`, type)
  }
  for (const kind of unversionedKinds) types.set(`v1/${kind}`, `meta/v1.${kind}`)
  for (const apiVersion of apiVersions) for (const kind of sharedKinds) types.set(`${apiVersion}/${kind}`, `meta/v1.${kind}`)
  return types
}
